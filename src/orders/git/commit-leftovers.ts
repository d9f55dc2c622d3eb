import { lstat } from 'node:fs/promises';
import { cutText } from '../../base/index.js';
import { adaptGitFilters } from './git-filters.js';
import { describeGitFailure, runGit, type CallGit } from './run-git.js';
import { listSubmodules } from '../proof/changes.js';
import type { WorkOrder, WorkResult } from '../../store/records/index.js';
import { findNestedRepositories, type Worktree } from './worktree.js';
import { withObjects, withScratchObjects, type RepositoryStart } from './repository.js';
import { findLinksOut, listChange, type ListedChange, type MadeCommit } from './examine-commit.js';

/** The changes to commit for an agent, and the content of the commit message. */
export interface Leftovers {
  readonly start: RepositoryStart;
  readonly worktree: Worktree;
  readonly order: Pick<WorkOrder, 'worker' | 'run_id' | 'issue_ref'>;
  /** Absent if the agent left no usable result: its work is only kept. */
  readonly result?: WorkResult;
  readonly maskText: (text: string) => string;
}

/** `clean`: nothing to commit. `stopped`: the change must not be committed; the worktree is left unchanged. */
export type Committed =
  | { readonly state: 'clean' }
  | { readonly state: 'committed'; readonly commit: string; readonly made: MadeCommit }
  | { readonly state: 'stopped'; readonly why: string };

const HASH = /^[0-9a-f]{40,64}$/;
const MAX_LISTING = 8 * 1024 * 1024;
/** A longer change cannot be searched for secrets. */
const MAX_DIFF = 64 * 1024 * 1024;
const LONG = { timeLimitMs: 300_000 };

/**
 * Commits an agent's changes in its worktree, on the worktree's own branch. Uses a private git directory and index: settings
 * that the agent wrote into the repository, or files that it marked as unchanged in its index, have no effect.
 */
export async function commitLeftovers(leftovers: Leftovers): Promise<Committed> {
  const { start, worktree } = leftovers;
  // The agent might have replaced the folder with a link to other files.
  const folder = await lstat(worktree.folder).catch(() => undefined);
  if (folder?.isDirectory() !== true) return { state: 'stopped', why: 'the worktree was removed or replaced' };
  const reference = `refs/heads/${worktree.branch}`;
  const query = ['commit', 'tree'].map((kind) => `${reference}^{${kind}}\n`).join('');
  const tip = await runGit(worktree.repoDir, ['cat-file', '--batch-check=%(objectname)'], { input: query });
  const [parent = '', tree = ''] = tip.stdout.split('\n');
  if (tip.code !== 0 || !HASH.test(parent)) {
    return { state: 'stopped', why: `the branch ${worktree.branch} was removed` };
  }
  const outcome = await withObjects(start, async (call) => makeCommit(leftovers, { parent, tree }, call));
  if (outcome.state !== 'committed') return outcome;
  // Only if the branch still has its old tip, so a branch that has since moved is not reset.
  const update = ['update-ref', '-m', "sluice: commit the agent's changes", reference, outcome.commit, parent];
  const moved = await runGit(worktree.repoDir, update);
  return moved.code === 0 ? outcome : { state: 'stopped', why: `the branch ${worktree.branch} could not be updated` };
}

async function makeCommit(
  leftovers: Leftovers,
  { parent, tree: before }: { readonly parent: string; readonly tree: string },
  callGit: CallGit,
): Promise<Committed> {
  const { worktree, result, start } = leftovers;
  // The index is in the same folder as the private git directory, which is removed afterwards.
  const files = { ...LONG, workTree: worktree.folder };
  const filters = adaptGitFilters(worktree.filters ?? {}, start.objects);
  const call: CallGit = async (args, extraOptions = {}) =>
    callGit(['-C', worktree.folder, ...args], { ...files, ...extraOptions });
  const claimed = result?.changes.commit;
  const isHash = claimed !== undefined && /^[0-9a-f]{4,64}$/.test(claimed);
  const [read, [nested], known] = await Promise.all([
    call(['read-tree', parent]),
    // Checked before git reads the files: it would query a nested repository with that repository's configuration.
    findNestedRepositories(call, worktree.folder, parent),
    isHash ? call(['rev-parse', '--quiet', '--verify', `${claimed}^{tree}`]) : { code: 1, stdout: '' },
  ]);
  const exclude = ['-c', `core.excludesFile=${start.exclude}`];

  if (read.code !== 0) return refuse('its branch could not be read');
  if (nested !== undefined) return refuse(`it contains another repository: ${nested.slice(0, 200)}`);
  const added = await call([...exclude, 'add', '--all', '--', '.'], { filters });
  if (added.code !== 0) return refuse(`git could not read its files: ${describeGitFailure(added)}`);
  const tree = (await call(['write-tree'])).stdout.trim();
  if (tree === '') return refuse('its files could not be written as a tree');
  if (tree === before || (known.code === 0 && tree === known.stdout.trim())) return { state: 'clean' };

  const change = await examineChange(call, parent, tree, leftovers.maskText);
  if ('objection' in change) return refuse(change.objection);
  const isFiltered = Object.keys(filters).length > 0;
  const hidden = isFiltered ? await findHiddenSecret(call, parent, tree, leftovers) : undefined;
  if (hidden !== undefined) return refuse(hidden);
  const identity = ['-c', 'user.name=sluice', '-c', 'user.email=sluice@localhost', '-c', 'commit.gpgsign=false'];
  const input = writeMessage(leftovers);
  const commit = await call([...identity, 'commit-tree', tree, '-p', parent, '-F', '-'], { input });
  if (commit.code !== 0) return refuse('git could not commit it');
  return { state: 'committed', commit: commit.stdout.trim(), made: { parent, ...change.listed } };
}

function refuse(why: string): Committed {
  return { state: 'stopped', why };
}

/** Lists a change, or returns the reason it must not be committed. */
async function examineChange(
  call: CallGit,
  parent: string,
  tree: string,
  maskText: (text: string) => string,
): Promise<{ readonly listed: ListedChange } | { readonly objection: string }> {
  const [listed, secret] = await Promise.all([
    listChange(call, parent, tree),
    findSecret(call, parent, tree, maskText),
  ]);
  if (listed === undefined) return { objection: 'it changed too many files' };
  const [submodule] = listSubmodules(listed.files);
  if (submodule !== undefined) return { objection: `it contains another repository: ${submodule.slice(0, 200)}` };
  const [linkOut] = await findLinksOut(call, listed.files);
  if (linkOut !== undefined) return { objection: `it contains a link that leads out of it: ${linkOut.slice(0, 200)}` };
  return secret === undefined ? { listed } : { objection: secret };
}

async function findSecret(
  call: CallGit,
  parent: string,
  tree: string,
  maskText: (text: string) => string,
): Promise<string | undefined> {
  const plain = ['--text', '--no-color', '--no-ext-diff', '--no-textconv', '-U0'];
  const diff = await call(['diff-tree', '-r', '-p', ...plain, parent, tree], { maxBytes: MAX_DIFF });
  if (diff.code !== 0) return 'it is too large to be searched for secrets';
  // Only added lines are searched: removing a secret is allowed.
  const lines = diff.stdout.split('\n').filter((line) => line.startsWith('+'));
  const added = lines.map((line) => line.slice(1)).join('\n');
  return maskText(added) === added ? undefined : 'it contains a secret';
}

/** Searches changed files without filters: a filter's output does not always show the file's content. */
async function findHiddenSecret(
  callGit: CallGit,
  parent: string,
  tree: string,
  { start, maskText }: Leftovers,
): Promise<string | undefined> {
  // Unfiltered files are not committed, so their objects do not belong in the repository.
  return withScratchObjects(start.objects, async (objectDirectory) => {
    const call: CallGit = async (args, extraOptions = {}) => callGit(args, { objectDirectory, ...extraOptions });
    const names = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--diff-filter=AMT', parent, tree];
    const changed = await call(names, { maxBytes: MAX_LISTING });
    // After read-tree, git has no record of unchanged files: it reads them again, now without filters.
    const read = await call(['read-tree', tree]);
    const added = await call(['update-index', '-z', '--stdin'], { input: changed.stdout });
    const unfiltered = await call(['write-tree']);
    if ([changed, read, added, unfiltered].some(({ code }) => code !== 0))
      return 'it could not be searched for secrets';
    return findSecret(call, parent, unfiltered.stdout.trim(), maskText);
  });
}

const SUBJECT_LENGTH = 72;
const BODY_LENGTH = 5000;

function writeMessage({ order, result, maskText }: Leftovers): string {
  const summary = maskText(result?.summary ?? `Keep the uncommitted work on ${order.issue_ref}`)
    .replaceAll(/[^\P{Cc}\n]/gu, ' ')
    .trim();
  const [first = ''] = summary.split('\n');
  const subject = first.trim() === '' ? `Work on ${order.issue_ref}` : first.trim();
  const isComplete = subject === summary && subject.length <= SUBJECT_LENGTH;
  return [
    subject.length <= SUBJECT_LENGTH ? subject : `${cutText(subject, SUBJECT_LENGTH - 1)}…`,
    '',
    ...(isComplete || summary === '' ? [] : [cutText(summary, BODY_LENGTH), '']),
    `Issue: ${order.issue_ref}`,
    `Run: ${order.run_id}`,
    `Co-authored-by: ${order.worker} <${order.worker}@localhost>`,
    '',
  ].join('\n');
}
