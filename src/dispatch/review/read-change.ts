import { lstat, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getErrorMessage } from '../../base/index.js';
import { parseChanges, parsePatch, runGit } from '../../orders/index.js';
import type { FileChange, GitEnd, GitFilters, GitOptions, ListedFile, Repo } from '../../orders/index.js';
import type { Change, OrderRecord } from '../../records/index.js';
import { fetchMirror } from '../repos/mirror.js';
import { recordStart, withObjects } from '../order/proof/repository.js';
import { findNestedRepositories, findWorktree, withOwnGitDir } from '../order/worktree.js';
import type { Worktree } from '../order/worktree.js';

/** Options for reading a change. */
export interface ChangeContext {
  /** The folder of run folders and worktrees. */
  readonly data: string;
  /** Takes secrets out of what is shown. */
  readonly maskText: (text: string) => string;
  /** Repositories that orders name by their URL; a commit that another machine has pushed is fetched. */
  readonly repos?: readonly Repo[];
  /** The filters that may run on files of worktrees. */
  readonly filters?: GitFilters;
}

const FILES_SHOWN = 300;
const MAX_LISTING = 1024 * 1024;
const MAX_PATCH = 4 * 1024 * 1024;
/** A person waits for it. */
const TIME = { timeLimitMs: 30_000 };

type ShownChange = Pick<Change, 'source' | 'commit' | 'files' | 'truncated' | 'why'>;

/**
 * Reads what an order has changed since its work began: a confirmed commit, else its worktree, where that is still there,
 * else the commit that its result or its branch names. The files and the repository are an agent's: git runs nothing that they name.
 *
 * @example
 * const { files } = await readChange({ data, maskText }, record)
 */
export async function readChange(context: ChangeContext, record: OrderRecord): Promise<Change> {
  const { order, base_commit: base } = record;
  const about = { issue_ref: order.issue_ref, run_id: order.run_id, base_commit: base };
  if (base === null) {
    const why =
      record.started_at === null ? 'The work has not started.' : 'The folder of the order is not a git repository.';
    return { ...about, ...nothing(why) };
  }
  try {
    const worktree = findWorktree(context.data, order, record.run, context.filters);
    // A confirmed commit is the whole change, and a retry may stand at the same path by now.
    const isConfirmed = record.decision?.evidence?.some(
      ({ claim, verdict }) => claim === 'commit' && verdict === 'confirmed',
    );
    const shown =
      isConfirmed !== true && (await isFolder(worktree.folder))
        ? await readWorktree(context, worktree, base)
        : await readCommit(context, worktree, record, base);
    return { ...about, ...shown };
  } catch (error) {
    return {
      ...about,
      ...nothing(`Git cannot show the change: ${context.maskText(getErrorMessage(error)).slice(0, 300)}`),
    };
  }
}

function nothing(why: string): ShownChange {
  return { source: 'none', commit: null, files: [], truncated: false, why };
}

/** A link in its place would lead to the files of others. */
async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() === true;
}

/** The files as they are, through a private git directory and index: neither the repository nor its index is changed. */
async function readWorktree(context: ChangeContext, worktree: Worktree, base: string): Promise<ShownChange> {
  const { folder } = worktree;
  const scratch = await mkdtemp(join(tmpdir(), 'sluice-index-'));
  let shown = nothing('Git cannot read the worktree.');
  try {
    await withOwnGitDir(worktree, async (call) => {
      const own = { ...TIME, indexFile: join(scratch, 'index') };
      const read = await call(['read-tree', 'HEAD'], own);
      // Git would ask a repository inside the worktree for its state, by its own configuration.
      const [nested] = await findNestedRepositories(call, folder, 'HEAD');
      if (nested !== undefined) shown = nothing('The worktree contains a nested repository.');
      if (read.code !== 0 || nested !== undefined) return read;
      const added = await call(['add', '--all', '--', '.'], own);
      if (added.code !== 0) return added;
      const files = await compare(context, async (args, more) => call(args, { ...own, ...more }), [
        'diff-index',
        '--cached',
        base,
      ]);
      shown = { source: 'worktree', commit: null, ...files };
      return added;
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  return shown;
}

async function readCommit(
  context: ChangeContext,
  { repoDir, branch }: Worktree,
  { order, result }: OrderRecord,
  base: string,
): Promise<ShownChange> {
  const wanted = result?.changes.commit;
  if (order.repo !== undefined && wanted !== undefined) await fetchMissing(context, order.repo, repoDir, wanted);
  const start = await recordStart(repoDir);
  if ('why' in start) return nothing(`Nothing to compare: ${start.why}.`);
  const tip = await runGit(repoDir, ['rev-parse', '--quiet', '--verify', `refs/heads/${branch}^{commit}`]);
  const named = tip.code === 0 ? tip.stdout.trim() : (result?.changes.commit ?? '');
  if (!/^[0-9a-f]{4,64}$/.test(named)) return nothing('Nothing was committed, and there is no worktree.');
  return withObjects(start, async (call): Promise<ShownChange> => {
    const found = await call(['rev-parse', '--quiet', '--verify', `${named}^{commit}`], TIME);
    if (found.code !== 0) return nothing(`The commit ${named.slice(0, 12)} is not in the repository.`);
    const commit = found.stdout.trim();
    const files = await compare(context, async (args, more) => call(args, { ...TIME, ...more }), [
      'diff-tree',
      '-r',
      base,
      commit,
    ]);
    return { source: 'commit', commit, ...files };
  });
}

/** Fetches a commit that another machine has pushed; one try, since a person waits. */
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
  await fetchMirror(data, repo, { pauses: [], maskText, signal: AbortSignal.timeout(TIME.timeLimitMs) });
}

type Ask = (args: readonly string[], options: GitOptions) => Promise<GitEnd>;

// As text, whatever the attributes say: an agent could call its files binary to keep them from being seen.
const PLAIN = ['--text', '--no-color', '--no-ext-diff', '--no-textconv', '--ignore-submodules=all', '-M'];

async function compare(
  { maskText }: ChangeContext,
  ask: Ask,
  [command = '', ...compared]: readonly string[],
): Promise<Pick<Change, 'files' | 'truncated'>> {
  const listing = await ask([command, ...PLAIN, '--raw', '-z', '--no-abbrev', ...compared], { maxBytes: MAX_LISTING });
  if (typeof listing.code === 'number' && listing.code !== 0) throw new Error(listing.stderr.trim().slice(-200));
  const changes = parseChanges(listing.stdout);
  const listed = changes.slice(0, FILES_SHOWN).map(listFile);
  const patch = await ask([command, ...PLAIN, '--patch', ...compared], { maxBytes: MAX_PATCH });
  const files = parsePatch(maskText(patch.stdout), listed, patch.code === 0);
  return { files, truncated: listing.code !== 0 || changes.length > FILES_SHOWN };
}

function listFile({ kind, path, oldPath, oldMode, newMode }: FileChange): ListedFile {
  const types = [oldMode, newMode].map((mode) => mode.slice(0, 2)).filter((type) => type !== '00');
  const file = { path, change: kind, ...(oldPath === undefined ? {} : { old_path: oldPath }) };
  return { file, sections: new Set(types).size === 2 ? 2 : 1 };
}
