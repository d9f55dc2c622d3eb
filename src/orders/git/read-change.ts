import { lstat, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getErrorMessage } from '../../base/index.js';
import { describeGitFailure, runGit } from './run-git.js';
import type { CallGit, GitFilters } from './run-git.js';
import { dropFullStop } from '../plain-text.js';
import { parseChanges } from '../proof/changes.js';
import type { FileChange } from '../proof/changes.js';
import type { Repo } from '../repos/repos.js';
import { parsePatch } from '../review/parse-patch.js';
import type { ListedFile } from '../review/parse-patch.js';
import type { Change, OrderRecord } from '../../store/records/index.js';
import { fetchMirror } from './mirror.js';
import { recordStart, withObjects } from './repository.js';
import { findNestedRepositories, getWorktree, withPrivateGitDir } from './worktree.js';
import type { Worktree } from './worktree.js';

/** Options for reading a change. */
export interface ChangeContext {
  /** The folder of run folders and worktrees. */
  readonly data: string;
  /** Masks secrets in the change. */
  readonly maskText: (text: string) => string;
  /** Repositories that orders name by their URL; a commit that another host has pushed is fetched. */
  readonly repos?: readonly Repo[];
  /** The filters that may run on worktree files. */
  readonly filters?: GitFilters;
}

const MAX_FILES = 300;
const MAX_LISTING_BYTES = 1024 * 1024;
const MAX_PATCH_BYTES = 4 * 1024 * 1024;
/** Short, because a user is waiting for the change. */
const TIME_LIMIT = { timeLimitMs: 30_000 };

type ShownChange = Pick<Change, 'source' | 'commit' | 'files' | 'truncated' | 'why'>;

/**
 * Reads the change of an order: its confirmed commit, otherwise its worktree if that still exists, otherwise the commit
 * that its branch or its result names. An agent can write the files and the repository: git runs none of the commands
 * they configure.
 *
 * @example
 * const { files } = await readChange({ data, maskText }, record)
 */
export async function readChange(context: ChangeContext, record: OrderRecord): Promise<Change> {
  const { order, base_commit: base } = record;
  const subject = { issue_ref: order.issue_ref, run_id: order.run_id, base_commit: base };
  if (base === null) {
    const why =
      record.started_at === null ? 'The work has not started.' : "The order's folder is not a git repository.";
    return { ...subject, ...createEmptyChange(why) };
  }
  try {
    const worktree = getWorktree(context.data, order, record.run, context.filters);
    // A confirmed commit is the whole change, and the worktree might already belong to a retry.
    const isConfirmed = record.decision?.evidence?.some(
      ({ claim, verdict }) => claim === 'commit' && verdict === 'confirmed',
    );
    const change =
      isConfirmed !== true && (await isFolder(worktree.folder))
        ? await readWorktree(context, worktree, base)
        : await readCommit(context, worktree, record, base);
    return { ...subject, ...change };
  } catch (error) {
    const why = context.maskText(getErrorMessage(error));
    return {
      ...subject,
      ...createEmptyChange(`Cannot read the change: ${dropFullStop(why.slice(0, 300))}.`),
    };
  }
}

function createEmptyChange(why: string): ShownChange {
  return { source: 'none', commit: null, files: [], truncated: false, why };
}

/** Whether a path is a folder and not a link, which would lead to other files. */
async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() === true;
}

/** Reads the current files through a private git directory and index: neither the repository nor its index is changed. */
async function readWorktree(context: ChangeContext, worktree: Worktree, base: string): Promise<ShownChange> {
  const { folder } = worktree;
  const scratch = await mkdtemp(join(tmpdir(), 'sluice-index-'));
  let change = createEmptyChange('Git cannot read the worktree.');
  try {
    await withPrivateGitDir(worktree, async (call, head) => {
      const options = { ...TIME_LIMIT, indexFile: join(scratch, 'index') };
      const read = await call(['read-tree', 'HEAD'], options);
      // Git would query the state of a repository inside the worktree with that repository's own configuration.
      const [nested] = await findNestedRepositories(call, folder, head);
      if (nested !== undefined) change = createEmptyChange('The worktree contains a nested repository.');
      if (read.code !== 0 || nested !== undefined) return read;
      const added = await call(['add', '--all', '--', '.'], options);
      if (added.code !== 0) return added;
      const files = await listFiles(context, async (args, limits) => call(args, { ...options, ...limits }), [
        'diff-index',
        '--cached',
        base,
      ]);
      change = { source: 'worktree', commit: null, ...files };
      return added;
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  return change;
}

async function readCommit(
  context: ChangeContext,
  { repoDir, branch }: Worktree,
  { order, result }: OrderRecord,
  base: string,
): Promise<ShownChange> {
  const claimed = result?.changes.commit;
  if (order.repo !== undefined && claimed !== undefined) await fetchMissing(context, order.repo, repoDir, claimed);
  const start = await recordStart(repoDir);
  if ('why' in start) return createEmptyChange(`Cannot read the repository: ${start.why}.`);
  const tip = await runGit(repoDir, ['rev-parse', '--quiet', '--verify', `refs/heads/${branch}^{commit}`]);
  const commitName = tip.code === 0 ? tip.stdout.trim() : (claimed ?? '');
  if (!/^[0-9a-f]{4,64}$/.test(commitName)) return createEmptyChange('Nothing was committed, and no worktree exists.');
  return withObjects(start, async (call): Promise<ShownChange> => {
    const resolved = await call(['rev-parse', '--quiet', '--verify', `${commitName}^{commit}`], TIME_LIMIT);
    if (resolved.code !== 0)
      return createEmptyChange(`The commit ${commitName.slice(0, 12)} is not in the repository.`);
    const commit = resolved.stdout.trim();
    const files = await listFiles(context, async (args, limits) => call(args, { ...TIME_LIMIT, ...limits }), [
      'diff-tree',
      '-r',
      base,
      commit,
    ]);
    return { source: 'commit', commit, ...files };
  });
}

/** Fetches a commit that another host has pushed. Only one attempt, because a user is waiting. */
async function fetchMissing(
  { data, repos = [], maskText }: ChangeContext,
  url: string,
  repoDir: string,
  commit: string,
): Promise<void> {
  const known = /^[0-9a-f]{4,64}$/.test(commit)
    ? await runGit(repoDir, ['cat-file', '-e', `${commit}^{commit}`], { gitDir: repoDir })
    : undefined;
  const repo = repos.find((each) => each.url === url);
  if (known === undefined || known.code === 0 || repo === undefined) return;
  await fetchMirror(data, repo, { pauses: [], maskText, signal: AbortSignal.timeout(TIME_LIMIT.timeLimitMs) });
}

// Files are compared as text, regardless of their attributes: an agent could declare its files binary to hide them.
const PLAIN_DIFF = ['--text', '--no-color', '--no-ext-diff', '--no-textconv', '--ignore-submodules=all', '-M'];

async function listFiles(
  { maskText }: ChangeContext,
  call: CallGit,
  [command = '', ...compared]: readonly string[],
): Promise<Pick<Change, 'files' | 'truncated'>> {
  const listing = await call([command, ...PLAIN_DIFF, '--raw', '-z', '--no-abbrev', ...compared], {
    maxBytes: MAX_LISTING_BYTES,
  });
  if (typeof listing.code === 'number' && listing.code !== 0) throw new Error(describeGitFailure(listing));
  const changes = parseChanges(listing.stdout);
  const listed = changes.slice(0, MAX_FILES).map(toListedFile);
  const patch = await call([command, ...PLAIN_DIFF, '--patch', ...compared], { maxBytes: MAX_PATCH_BYTES });
  const files = parsePatch(maskText(patch.stdout), listed, patch.code === 0);
  return { files, truncated: listing.code !== 0 || changes.length > MAX_FILES };
}

function toListedFile({ kind, path, oldPath, oldMode, newMode }: FileChange): ListedFile {
  const types = [oldMode, newMode].map((mode) => mode.slice(0, 2)).filter((type) => type !== '00');
  const file = { path, change: kind, ...(oldPath === undefined ? {} : { old_path: oldPath }) };
  return { file, sections: new Set(types).size === 2 ? 2 : 1 };
}
