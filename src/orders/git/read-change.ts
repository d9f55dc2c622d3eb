import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { getErrorMessage, cutText } from '../../base/index.js';
import { describeGitFailure, findCommit, runGit } from './run-git.js';
import type { CallGit, GitFilters, GitOptions, GitResult } from './run-git.js';
import { dropFullStop } from '../plain-text.js';
import { parseChanges, type FileChange } from '../proof/changes.js';
import type { Repo } from '../repos/repos.js';
import type { Change, OrderRecord, ChangedFile } from '../../store/records/index.js';
import { fetchMirror } from './mirror.js';
import { recordStart, withObjects, withScratchObjects } from './repository.js';
import { findNestedRepositories, getWorktree, withPrivateGitDir, type Worktree } from './worktree.js';

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
    const isConfirmed =
      record.decision?.evidence?.some(({ claim, verdict }) => claim === 'commit' && verdict === 'confirmed') === true;
    const change =
      !isConfirmed && (await isFolder(worktree.folder))
        ? await readWorktree(context, worktree, base)
        : await readCommit(context, worktree, record, base, isConfirmed);
    return { ...subject, ...change };
  } catch (error) {
    const why = dropFullStop(context.maskText(getErrorMessage(error)).slice(0, 300));
    return { ...subject, ...createEmptyChange(`Cannot read the change: ${why}.`) };
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
  let change = createEmptyChange('Git cannot read the worktree.');
  const read = async (call: CallGit, head: string, options: GitOptions): Promise<GitResult> => {
    const filled = await call(['read-tree', 'HEAD'], options);
    // Git would query the state of a repository inside the worktree with that repository's own configuration.
    const [nested] = await findNestedRepositories(call, folder, head);
    if (nested !== undefined) change = createEmptyChange('The worktree contains a nested repository.');
    if (filled.code !== 0 || nested !== undefined) return filled;
    const added = await call(['add', '--all', '--', '.'], options);
    if (added.code !== 0) return added;
    const callHere: CallGit = async (args, limits) => call(args, { ...options, ...limits });
    change = {
      source: 'worktree',
      commit: null,
      ...(await listFiles(context, callHere, ['diff-index', '--cached', base])),
    };
    return added;
  };
  await withPrivateGitDir(worktree, async (call, { head, objects }) =>
    withScratchObjects(objects, async (objectDirectory) =>
      read(call, head, { ...TIME_LIMIT, objectDirectory, indexFile: join(objectDirectory, 'index') }),
    ),
  );
  return change;
}

async function readCommit(
  context: ChangeContext,
  { repoDir, branch }: Worktree,
  { order, result }: OrderRecord,
  base: string,
  isConfirmed: boolean,
): Promise<ShownChange> {
  const claimed = result?.changes.commit;
  if (order.repo !== undefined && claimed !== undefined) await fetchMissing(context, order.repo, repoDir, claimed);
  const start = await recordStart(repoDir);
  if ('why' in start) return createEmptyChange(`Cannot read the repository: ${start.why}.`);
  const tip = await findCommit(repoDir, `refs/heads/${branch}`);
  // A process that the agent left could have moved the branch.
  const isProven = isConfirmed && claimed !== undefined;
  const commitName = (isProven ? undefined : tip) ?? claimed ?? '';
  if (!/^[0-9a-f]{4,64}$/.test(commitName)) return createEmptyChange('Nothing was committed, and no worktree exists.');
  return withObjects(start, async (call): Promise<ShownChange> => {
    const commit = await findCommit(call, commitName, TIME_LIMIT);
    if (commit === undefined)
      return createEmptyChange(`The commit ${commitName.slice(0, 12)} is not in the repository.`);
    const callHere: CallGit = async (args, limits) => call(args, { ...TIME_LIMIT, ...limits });
    return { source: 'commit', commit, ...(await listFiles(context, callHere, ['diff-tree', '-r', base, commit])) };
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
export const PLAIN_DIFF = ['--text', '--no-color', '--no-ext-diff', '--no-textconv', '--ignore-submodules=all', '-M'];

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

type Hunk = { readonly heading: string; readonly lines: Line[] };
type Line = ChangedFile['hunks'][number]['lines'][number];

/** Lines of one file and of all files together that are shown: more than anyone reads; a larger page would be slow. */
export const DISPLAY_LIMITS = { fileLines: 2000, lines: 20_000, lineLength: 2000 };

export interface ListedFile {
  readonly file: Pick<ChangedFile, 'path' | 'old_path' | 'change'>;
  /** How many sections of the patch are about it: a file that became a link has two. */
  readonly sections: 1 | 2;
}

// A heading is quoted from a file and can contain any character except a line feed.
const HUNK = /^@@ -(\d{1,10})(?:,\d{1,10})? \+(\d{1,10})(?:,\d{1,10})? @@ ?(.*)$/s;

/**
 * Parses a patch as `git diff-tree --patch` prints it. File names are taken from the list, which has the same order:
 * names in the patch can be quoted, and a file can have any name. Content lines start with a space, `+`, `-` or `\`, so
 * they cannot be mistaken for a file header. `isComplete`: the patch was not truncated.
 */
export function parsePatch(
  patch: string,
  files: readonly ListedFile[],
  isComplete: boolean,
  limits = DISPLAY_LIMITS,
): readonly ChangedFile[] {
  // Only a line feed ends a patch line: `^` would also match after a carriage return inside a line.
  const sections = patch.split(/(?<=^|\n)(?=diff --git )/).filter((section) => section.startsWith('diff --git '));
  let linesLeft = limits.lines;
  let next = 0;
  return files.map(({ file, sections: count }) => {
    const fileSections = sections.slice(next, next + count);
    next += count;
    const read = readSections(fileSections, { ...limits, fileLines: Math.min(limits.fileLines, linesLeft) });
    linesLeft -= read.shown;
    const isTruncated = !isComplete && next >= sections.length;
    const { added, removed, binary, hunks } = read;
    return { ...file, added, removed, binary, truncated: read.truncated || isTruncated, hunks };
  });
}

function readSections(sections: readonly string[], { fileLines, lineLength }: typeof DISPLAY_LIMITS) {
  const hunks: Hunk[] = [];
  const totals = { added: 0, removed: 0, shown: 0, binary: false, truncated: false };
  let oldLine = 0;
  let newLine = 0;
  let hunk: Hunk | undefined;
  for (const row of sections.flatMap((section) => section.split('\n'))) {
    if (row.startsWith('diff --git ')) hunk = undefined;
    const [, oldStart, newStart, heading = ''] = HUNK.exec(row) ?? [];
    if (oldStart !== undefined) {
      [oldLine, newLine] = [Number(oldStart), Number(newStart)];
      hunk = { heading: cutText(heading, lineLength), lines: [] };
      if (totals.shown < fileLines) hunks.push(hunk);
      continue;
    }
    totals.binary ||= row.includes('\0');
    const kind = KINDS[row.charAt(0)];
    if (hunk === undefined || kind === undefined) continue;
    if (kind !== 'same') totals[kind] += 1;
    if (totals.shown >= fileLines || row.length > lineLength + 1) totals.truncated = true;
    if (totals.shown < fileLines) {
      totals.shown += 1;
      hunk.lines.push({
        kind,
        old_line: kind === 'added' ? null : oldLine,
        new_line: kind === 'removed' ? null : newLine,
        text: cutText(row.slice(1), lineLength),
      });
    }
    if (kind !== 'added') oldLine += 1;
    if (kind !== 'removed') newLine += 1;
  }
  return { ...totals, hunks: totals.binary ? [] : hunks };
}

const KINDS: Readonly<Record<string, Line['kind']>> = { ' ': 'same', '+': 'added', '-': 'removed' };
