import { lstat, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from '../../../files/index.js';
import { listSubmodules, parseChanges, placeGitFilters, runGit } from '../../../orders/index.js';
import type { WorkOrder, WorkResult } from '../../../records/index.js';
import { findNestedRepositories } from '../worktree.js';
import type { Worktree } from '../worktree.js';
import { withObjects } from './repository.js';
import type { CallGit, RepositoryStart } from './repository.js';
import { findLinksOut } from './examine-commit.js';

/** The changes to commit for an agent, and the author. */
export interface Leftovers {
  readonly start: RepositoryStart;
  readonly worktree: Worktree;
  readonly order: Pick<WorkOrder, 'worker' | 'run_id' | 'issue_ref'>;
  readonly result: WorkResult;
  readonly maskText: (text: string) => string;
}

/** `clean`: there was nothing to commit. `stopped`: it may not be committed; the worktree is left as it is. */
export type Committed =
  | { readonly state: 'clean' }
  | { readonly state: 'committed'; readonly commit: string }
  | { readonly state: 'stopped'; readonly why: string };

const MAX_LISTING = 8 * 1024 * 1024;
/** A longer change cannot be searched for secrets. */
const MAX_DIFF = 64 * 1024 * 1024;
const LONG = { timeLimitMs: 300_000 };

/**
 * Commits an agent's changes in its worktree, on the worktree's own branch. Everything goes through a private git directory
 * and index: what the agent wrote into the repository's configuration, or marked as unchanged in its index, has no effect.
 */
export async function commitLeftovers(leftovers: Leftovers): Promise<Committed> {
  const { start, worktree } = leftovers;
  // A link in its place would lead to the files of others.
  const folder = await lstat(worktree.folder).catch(() => undefined);
  if (folder?.isDirectory() !== true) return { state: 'stopped', why: 'the worktree was removed or replaced' };
  const reference = `refs/heads/${worktree.branch}`;
  const tip = await runGit(worktree.repoDir, ['rev-parse', '--quiet', '--verify', `${reference}^{commit}`]);
  if (tip.code !== 0) return { state: 'stopped', why: `the branch ${worktree.branch} was removed` };
  const parent = tip.stdout.trim();
  const made = await withObjects(start, async (call) => makeCommit(leftovers, parent, call));
  if (made.state !== 'committed') return made;
  // Only from where it stood: a branch that moved meanwhile is not reset.
  const update = ['update-ref', '-m', 'sluice: commit what the agent left', reference, made.commit, parent];
  const moved = await runGit(worktree.repoDir, update);
  return moved.code === 0 ? made : { state: 'stopped', why: `the branch ${worktree.branch} could not be moved` };
}

async function makeCommit(leftovers: Leftovers, parent: string, callGit: CallGit): Promise<Committed> {
  const { worktree, result, start } = leftovers;
  // The index is in the same folder as the private git directory, which is removed afterwards.
  const files = { ...LONG, workTree: worktree.folder };
  const filters = placeGitFilters(worktree.filters ?? {}, start.objects);
  const call: CallGit = async (args, more = {}) => callGit(['-C', worktree.folder, ...args], { ...files, ...more });
  const claimed = result.changes.commit;
  const isHash = claimed !== undefined && /^[0-9a-f]{4,64}$/.test(claimed);
  const [ignored, read, [nested], ...known] = await Promise.all([
    runGit(start.repoDir, ['rev-parse', '--path-format=absolute', '--git-path', 'info/exclude']),
    call(['read-tree', parent]),
    // Before git reads them: it would query such a repository's state by its own configuration.
    findNestedRepositories(call, worktree.folder, parent),
    ...[parent, ...(isHash ? [claimed] : [])].map(async (commit) =>
      call(['rev-parse', '--quiet', '--verify', `${commit}^{tree}`]),
    ),
  ]);
  const exclude = ignored.code === 0 ? ['-c', `core.excludesFile=${ignored.stdout.trim()}`] : [];

  if (read.code !== 0) return stop('its branch could not be read');
  if (nested !== undefined) return stop(`it contains another repository: ${nested.slice(0, 200)}`);
  const added = await call([...exclude, 'add', '--all', '--', '.'], { filters });
  if (added.code !== 0) return stop(`git could not read its files: ${added.stderr.trim().slice(-200)}`);
  const tree = (await call(['write-tree'])).stdout.trim();
  if (tree === '') return stop('its files could not be written as a tree');
  if (known.some(({ code, stdout }) => code === 0 && stdout.trim() === tree)) return { state: 'clean' };

  const isFiltered = Object.keys(filters).length > 0;
  const objection =
    (await findObjection(call, parent, tree, leftovers.maskText)) ??
    (isFiltered ? await findHiddenSecret(call, parent, tree, leftovers) : undefined);
  if (objection !== undefined) return stop(objection);
  const identity = ['-c', 'user.name=sluice', '-c', 'user.email=sluice@localhost', '-c', 'commit.gpgsign=false'];
  const commit = await call([...identity, 'commit-tree', tree, '-p', parent, '-F', '-'], {
    input: writeMessage(leftovers),
  });
  return commit.code === 0 ? { state: 'committed', commit: commit.stdout.trim() } : stop('git could not commit it');
}

function stop(why: string): Committed {
  return { state: 'stopped', why };
}

/** Finds why a change may not be committed; undefined if it may. */
async function findObjection(
  call: CallGit,
  parent: string,
  tree: string,
  maskText: (text: string) => string,
): Promise<string | undefined> {
  const [listing, secret] = await Promise.all([
    call(['diff-tree', '-r', '-M', '--raw', '-z', '--no-abbrev', parent, tree], { maxBytes: MAX_LISTING }),
    findSecret(call, parent, tree, maskText),
  ]);
  if (listing.code !== 0) return 'it changed too many files';
  const changes = parseChanges(listing.stdout);
  const submodules = listSubmodules(changes);
  if (submodules.length > 0) return `it contains another repository: ${submodules[0]?.slice(0, 200)}`;
  const [linkOut] = await findLinksOut(call, changes);
  if (linkOut !== undefined) return `it contains a link that leads out of it: ${linkOut.slice(0, 200)}`;
  return secret;
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
  return holdsSecret(diff.stdout, maskText) ? 'it contains a secret' : undefined;
}

/** Looks at changed files as the agent left them: what a filter makes of a file need not show what is in it. */
async function findHiddenSecret(
  callGit: CallGit,
  parent: string,
  tree: string,
  { start, maskText }: Leftovers,
): Promise<string | undefined> {
  // Objects of files that are not committed as they are do not belong in the repository.
  const objectDirectory = await mkdtemp(join(tmpdir(), 'sluice-objects-'));
  const call: CallGit = async (args, more = {}) => callGit(args, { objectDirectory, ...more });
  try {
    await makeFolder(join(objectDirectory, 'info'));
    await writeFile(join(objectDirectory, 'info', 'alternates'), `${start.objects}\n`);
    return await searchUnfiltered(call, parent, tree, maskText);
  } finally {
    await rm(objectDirectory, { recursive: true, force: true });
  }
}

async function searchUnfiltered(
  call: CallGit,
  parent: string,
  tree: string,
  maskText: (text: string) => string,
): Promise<string | undefined> {
  const names = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--diff-filter=AMT', parent, tree];
  const changed = await call(names, { maxBytes: MAX_LISTING });
  // Reading the tree forgets which files are unchanged: they are read again, now without filters.
  const read = await call(['read-tree', tree]);
  const added = await call(['update-index', '-z', '--stdin'], { input: changed.stdout });
  const unfiltered = await call(['write-tree']);
  if ([changed, read, added, unfiltered].some(({ code }) => code !== 0)) return 'it could not be searched for secrets';
  return findSecret(call, parent, unfiltered.stdout.trim(), maskText);
}

/** Looks at what is added, not at what is taken away: to remove a secret is right. */
function holdsSecret(diff: string, maskText: (text: string) => string): boolean {
  const added = diff
    .split('\n')
    .filter((line) => line.startsWith('+'))
    .map((line) => line.slice(1))
    .join('\n');
  return maskText(added) !== added;
}

const SUBJECT_LENGTH = 72;
const BODY_LENGTH = 5000;

function writeMessage({ order, result, maskText }: Leftovers): string {
  const summary = maskText(result.summary)
    .replaceAll(/[^\P{Cc}\n]/gu, ' ')
    .trim();
  const [first = ''] = summary.split('\n');
  const subject = first.trim() === '' ? `Work on ${order.issue_ref}` : first.trim();
  const isWhole = subject === summary && subject.length <= SUBJECT_LENGTH;
  return [
    subject.length <= SUBJECT_LENGTH ? subject : `${subject.slice(0, SUBJECT_LENGTH - 1)}…`,
    '',
    ...(isWhole || summary === '' ? [] : [summary.slice(0, BODY_LENGTH), '']),
    `Issue: ${order.issue_ref}`,
    `Run: ${order.run_id}`,
    `Co-authored-by: ${order.worker} <${order.worker}@localhost>`,
    '',
  ].join('\n');
}
