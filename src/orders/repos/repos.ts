import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { fromRecordSchema } from '../../json/schema/index.js';
import { flag, name, object, type FromSchema } from '../../base/index.js';
import type { Problem, WorkOrder } from '../../store/records/index.js';
import { OrdersError, createInvalidError } from '../orders-error.js';
import { checkShape, createValueProblem } from '../shapes/check-shape.js';

/** The JSON Schema of a configured repository: its URL, or an object with its URL. */
export const REPO_SCHEMA = {
  anyOf: [
    name,
    object(
      { url: name },
      {
        /** The environment variable with the password or token; only for https. */
        token_env: name,
        /** The matching user name; `x-access-token` by default. */
        user: name,
        /** The branch to start work from; the repository's default branch by default. */
        branch: { type: 'string', pattern: '^[A-Za-z0-9_][A-Za-z0-9._/-]{0,199}$' },
        /** Whether an order's commits are pushed back, each on a separate branch; true by default. */
        push: flag,
        /** The maximum size of the mirror; 10 GiB by default. */
        max_bytes: { type: 'integer', minimum: 1 },
      },
    ),
  ],
} as const;

/** A repository that orders may name by its URL. */
export interface Repo {
  readonly url: string;
  readonly branch?: string;
  readonly push: boolean;
  readonly maxBytes: number;
  /** Credentials for the server, if it needs a password. */
  readonly credentials?: { readonly user: string; readonly token: string };
}

const MAX_BYTES = 10 * 1024 * 1024 * 1024;
const repoSchema = fromRecordSchema<FromSchema<typeof REPO_SCHEMA>>(REPO_SCHEMA);

/**
 * Validates the configured repositories. A password comes from an environment variable, never from a URL.
 *
 * @example
 * readRepos(['https://git.example.org/shop.git'], process.env) // [{ url: 'https://git.example.org/shop.git', push: true, … }]
 */
export function readRepos(value: unknown, env: Readonly<Record<string, string | undefined>>): readonly Repo[] {
  if (!Array.isArray(value)) throw fail('repos', [createValueProblem('', 'must be a list')]);
  return value.map((entry: unknown, index) => {
    const validated = checkShape(repoSchema, entry);
    if (validated.problems !== undefined) throw fail(`repos[${index}]`, validated.problems);
    const settings = typeof validated.value === 'string' ? { url: validated.value } : validated.value;
    const why = findUrlProblem(settings.url);
    if (why !== undefined) throw fail(`repos[${index}]`, [createValueProblem('url', why)]);
    return readRepo(settings, env);
  });
}

function fail(setting: string, problems: readonly Problem[]): OrdersError {
  return createInvalidError('INVALID_CONFIG', `setting "${setting}"`, problems);
}

type RepoSettings = Exclude<FromSchema<typeof REPO_SCHEMA>, string>;

function readRepo(settings: RepoSettings, env: Readonly<Record<string, string | undefined>>): Repo {
  const { url, branch, push = true, max_bytes: maxBytes = MAX_BYTES, token_env, user = 'x-access-token' } = settings;
  const token = token_env === undefined ? undefined : env[token_env];
  return {
    url,
    push,
    maxBytes,
    ...(branch === undefined ? {} : { branch }),
    ...(token === undefined || token === '' ? {} : { credentials: { user, token } }),
  };
}

/** Finds a configured repository by its URL. */
export function findRepo(url: string, repos: readonly Repo[]): Repo {
  const repo = repos.find((candidate) => candidate.url === url);
  if (repo !== undefined) return repo;
  throw new OrdersError('UNKNOWN_REPO', `The repository "${url}" is not configured. Add it to the setting "repos".`);
}

/** Returns the folder of an order's repository on this host: `repo_dir`, or the mirror of its URL. */
export function getRepositoryFolder(data: string, order: Pick<WorkOrder, 'repo' | 'repo_dir'>): string {
  if (order.repo === undefined) return order.repo_dir;
  const hash = createHash('sha256').update(order.repo).digest('hex');
  return join(data, 'mirrors', `${hash.slice(0, 32)}.git`);
}

/** The protocols that git may use. */
const PROTOCOLS = ['https:', 'http:', 'ssh:', 'file:'];

/** Returns the problem with a repository URL, or undefined if it is valid. */
export function findUrlProblem(text: string): string | undefined {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return 'use a URL such as https://git.example.org/team/shop.git';
  }
  if (!PROTOCOLS.includes(url.protocol)) return 'use https, http, ssh or file';
  if (url.password !== '' || (url.username !== '' && url.protocol !== 'ssh:')) {
    return 'omit user and password; set token_env in the configuration to the name of a variable with the password';
  }
  if (url.search !== '' || url.hash !== '') return 'omit the query and the fragment';
  if (url.protocol === 'file:' ? url.host !== '' : url.hostname === '' || url.hostname.startsWith('-')) {
    return 'the host is invalid';
  }
  return undefined;
}
