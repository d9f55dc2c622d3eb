import { join } from 'node:path';
import { createUlidGenerator, silentLogger, type Logger } from '../../base/index.js';
import { chooseDataFolder } from '../../base/files/index.js';
import { compileSecrets, listSensitiveValues, type Secrets } from '../../runs/index.js';
import { getRunFolderPath } from '../../runs/run-folder/index.js';
import type { OrderStore, OutboxStore, StoreClock } from '../../store/ports/index.js';
import { checkTemplate } from '../comment/comment-template.js';
import { createMarkdownSink } from '../sinks/markdown-sink.js';
import type { Sink } from '../sinks/sink.js';
import { findChecks, type Checks } from '../proof/checks.js';
import type { GitFilters } from '../git/run-git.js';
import type { Repo } from '../repos/repos.js';
import type { Wrappers } from '../wrappers/wrappers.js';

/** The delays between failed deliveries, and when a delivery fails permanently. */
interface Backoff {
  /** The delay after the first failure; doubled after each further failure. */
  readonly initialMs: number;
  readonly maxMs: number;
  /** A message is dead after this many attempts. */
  readonly maxTries: number;
}

/** Up to an hour between attempts, half an hour on average: a delivery fails permanently after about three days. */
export const DEFAULT_BACKOFF: Backoff = { initialMs: 2000, maxMs: 3_600_000, maxTries: 150 };

/** Options for a lead. */
export interface LeadOptions {
  readonly store: OrderStore & OutboxStore & StoreClock;
  /** The configured wrappers, by name; the built-in ones are always available. */
  readonly wrappers?: Wrappers;
  /** The configured checks, by name. */
  readonly checks?: Checks;
  /** The repositories that orders may name by their URL. */
  readonly repos?: readonly Repo[];
  /** The git filters that may run on files in worktrees and checks, from `readGitFilters`; none by default. */
  readonly filters?: GitFilters;
  /** Where comments go; Markdown files in `<data>/comments` by default. */
  readonly sinks?: readonly Sink[];
  /** The template of comments, see `templates/comment.md`; an invalid one is refused with `INVALID_CONFIG`. */
  readonly commentTemplate?: string;
  /** The folder for run folders, comments and worktrees; by default the data folder of this project. */
  readonly data?: string;
  /** How failed deliveries are retried. */
  readonly backoff?: Partial<Backoff>;
  /** The number of comments sent concurrently per sink; 8 by default. */
  readonly concurrency?: number;
  /** The environment whose sensitive values are masked in agents' reports; `process.env` by default. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Patterns for additional secrets to mask. */
  readonly secrets?: { readonly patterns?: readonly string[] };
  readonly logger?: Logger;
  /** Milliseconds since 1970; the store's clock by default. */
  readonly clock?: () => number;
  readonly newId?: () => string;
  /** Between 0 and 1, for the delivery jitter. */
  readonly random?: () => number;
}

/** The options with every default filled in, and the identity of this lead. */
export interface LeadContext extends Required<
  Omit<LeadOptions, 'backoff' | 'commentTemplate' | 'environment' | 'secrets'>
> {
  /** Undefined for the default one, which is in the language of the sink. */
  readonly commentTemplate: string | undefined;
  readonly backoff: Backoff;
  /** Secrets that are masked in agents' reports. */
  readonly secrets: Secrets;
  /** Unique per lead. */
  readonly leadId: string;
  readonly getRunFolder: (run: string) => string;
}

const DEFAULT_CONCURRENCY = 8;

export function createLeadContext(options: LeadOptions): LeadContext {
  const { store, wrappers = {}, checks = {}, repos = [], filters = {}, commentTemplate: template } = options;
  const { logger = silentLogger, random = Math.random, concurrency = DEFAULT_CONCURRENCY } = options;
  const { environment = process.env, clock = () => store.now(), newId = createUlidGenerator(clock) } = options;
  const data = chooseDataFolder(options.data);
  const { sinks = [createMarkdownSink({ folder: join(data, 'comments') })] } = options;
  // Otherwise an unknown check would be noticed only after the work is done.
  for (const wrapper of Object.values(wrappers)) findChecks({}, wrapper, checks);
  const { patterns = [] } = options.secrets ?? {};
  const configured = { wrappers, checks, repos, filters, sinks, data, concurrency };
  const ports = { store, logger, clock, newId, random };
  return {
    ...configured,
    ...ports,
    commentTemplate: template === undefined ? undefined : checkTemplate(template),
    backoff: { ...DEFAULT_BACKOFF, ...options.backoff },
    secrets: compileSecrets({ values: listSensitiveValues(environment), patterns }),
    leadId: newId(),
    getRunFolder: (run) => getRunFolderPath(data, run),
  };
}
