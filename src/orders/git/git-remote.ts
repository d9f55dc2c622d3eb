import { readdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeGitFailure, runGit, type CallGit, type GitOptions, type GitResult } from './run-git.js';
import { withGitDir } from './repository.js';
import type { Repo } from '../repos/repos.js';

/** The timeout of a call to another host. */
const TIMEOUT_MS = 600_000;
const WATCH_MS = 500;
/** The maximum output of git: a list of about 250,000 branches and tags. */
const MAX_LISTING_BYTES = 64 * 1024 * 1024;

/**
 * Lets `work` call git with the URL of a repository, on the objects of its mirror, through a private git directory: an
 * agent that worked in the mirror could have changed its configuration to send the password to another server. To
 * fetch, the mirror's references are copied, so only new objects are fetched. To push, there are none: a branch whose
 * name is the hash of a commit would be pushed instead of that commit.
 */
export async function withRemote<T>(
  repo: Repo,
  mirror: { readonly folder: string; readonly format: string; readonly purpose: 'fetch' | 'push' },
  work: (call: CallGit) => Promise<T>,
): Promise<T> {
  const objects = join(mirror.folder, 'objects');
  return withGitDir({ format: mirror.format, objects }, async (gitDir) => {
    const refs = mirror.purpose === 'fetch' ? await listRefs(mirror.folder) : new Map<string, string>();
    if (refs.size > 0) {
      const lines = [...refs].map(([name, hash]) => `${hash} ${name}\n`);
      await writeFile(join(gitDir, 'packed-refs'), `# pack-refs with: \n${lines.join('')}`);
    }
    const options = { gitDir, objectDirectory: objects };
    return work(async (args, extra = {}) => callRemote(repo, args, { ...options, ...extra }));
  });
}

/** Calls git with access to a remote repository: only over its protocol, with its password, and verifying received objects. */
export async function callRemote(repo: Repo, args: readonly string[], options: GitOptions = {}): Promise<GitResult> {
  return runGit(tmpdir(), args, {
    timeLimitMs: TIMEOUT_MS,
    maxBytes: MAX_LISTING_BYTES,
    ...options,
    remote: {
      protocol: new URL(repo.url).protocol.slice(0, -1),
      config: { ...SAFE_GIT_CONFIG, ...createAuthConfig(repo) },
    },
  });
}

const SAFE_GIT_CONFIG = {
  // A redirect to another server would send the password there.
  'http.followRedirects': 'false',
  'credential.helper': '',
  'core.askPass': '',
  'fetch.recurseSubmodules': 'false',
  'push.recurseSubmodules': 'no',
  'push.gpgSign': 'false',
  'fetch.fsckObjects': 'true',
  // Many old histories have these errors, which are harmless.
  'fetch.fsck.zeroPaddedFilemode': 'ignore',
  'fetch.fsck.missingSpaceBeforeDate': 'ignore',
  'fetch.fsck.badTimezone': 'ignore',
  // Objects always stay packed: a pack is verified in one step, and one file is easier to watch than thousands.
  'fetch.unpackLimit': '1',
  'fetch.writeCommitGraph': 'false',
} as const;

function createAuthConfig({ url, credentials }: Repo): Readonly<Record<string, string>> {
  // Only over https, because others on the network could otherwise read the password; localhost uses no network.
  const { protocol, hostname } = new URL(url);
  const isLocal = protocol === 'http:' && /^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(hostname);
  if (credentials === undefined || !(protocol === 'https:' || isLocal)) return {};
  const encoded = Buffer.from(`${credentials.user}:${credentials.token}`).toString('base64');
  return { [`http.${url}.extraHeader`]: `Authorization: Basic ${encoded}` };
}

/** Lists references for `readRefs`. */
export const LIST_REFS = ['for-each-ref', '--format=%(objectname) %(refname)'];

/** Lists the references of a git directory, by name. */
export async function listRefs(gitDir: string): Promise<ReadonlyMap<string, string>> {
  const listed = await runGit(gitDir, LIST_REFS, { gitDir, maxBytes: MAX_LISTING_BYTES, timeLimitMs: 60_000 });
  if (listed.code !== 0) throw new Error(`Cannot list the references of "${gitDir}": ${describeGitFailure(listed)}.`);
  return readRefs(listed.stdout);
}

export function readRefs(listing: string): ReadonlyMap<string, string> {
  const lines = listing.split('\n').filter(Boolean);
  return new Map(lines.map((line) => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]));
}

/** Watches the size of a mirror and aborts the signal when its packs are larger than allowed; git itself has no such limit. */
export function watchSize(folder: string, maxBytes: number): { readonly signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  const check = async (): Promise<void> => {
    if ((await measureFolder(join(folder, 'objects', 'pack'))) > maxBytes) controller.abort();
  };
  const timer = setInterval(() => void check(), WATCH_MS);
  timer.unref();
  return { signal: controller.signal, stop: () => clearInterval(timer) };
}

/** Returns the total size of the files in a folder; files that are being renamed can be missed. */
export async function measureFolder(folder: string): Promise<number> {
  const names = await readdir(folder).catch((): string[] => []);
  const sizes = await Promise.all(
    names.map(async (name) => (await stat(join(folder, name)).catch(() => undefined))?.size),
  );
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}
