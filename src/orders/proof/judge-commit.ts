import { matchPathGlob } from '../../base/index.js';
import type { Evidence, WorkOrder } from '../../store/records/index.js';
import { dropFullStop, showLine, showNames } from '../plain-text.js';
import { isCiPath, isTestPath, listDeletedTests, listPaths, listSubmodules } from './changes.js';
import type { FileChange } from './changes.js';
import { isSteeringPath } from './steering-files.js';

/** Git's findings on a claimed commit. */
export type CommitFacts =
  /** The commit could not be examined. */
  | { readonly found: 'unknown'; readonly why: string }
  | { readonly found: 'missing'; readonly commit: string }
  /** The commit exists, but is not the work of this order. */
  | { readonly found: 'foreign'; readonly commit: string; readonly why: string }
  | { readonly found: 'change'; readonly change: OrderChange };

/** A change that this order made. */
export interface OrderChange {
  readonly commit: string;
  readonly base: string;
  /** The commit that its files are compared with; `base` unless that lacks work of others. */
  readonly from?: string;
  /** Commits that only this order made. */
  readonly commits: number;
  readonly files: readonly FileChange[];
  /** Lines added and removed; null if git could not count them. */
  readonly lines: number | null;
  /** The first few authors recorded in its commits. */
  readonly authors: readonly string[];
  /** A commit is dated before the base commit. */
  readonly isBackdated: boolean;
  /** Tests that had letters or digits before the change and have none now. */
  readonly blankTests?: readonly string[];
  /** Symbolic links in the change that lead out of the repository. */
  readonly linksOut: readonly string[];
  /** Sluice made the commit, from the agent's uncommitted changes in the worktree. */
  readonly madeBySluice: boolean;
}

/** Judges a claimed commit and the files it changes. `isChecked`: checks that must pass judge its blank tests. */
export function judgeCommit(
  facts: CommitFacts,
  order: Pick<WorkOrder, 'paths'>,
  { isChecked = false }: { readonly isChecked?: boolean } = {},
): readonly Evidence[] {
  switch (facts.found) {
    case 'unknown':
      return [
        { claim: 'commit', by: 'sluice', verdict: 'unchecked', detail: `Not checked: ${dropFullStop(facts.why)}.` },
      ];
    case 'missing':
      return [contradict('commit', `The repository has no commit ${formatCommit(facts.commit)}.`)];
    case 'foreign':
      return [contradict('commit', `Commit ${formatCommit(facts.commit)} ${dropFullStop(facts.why)}.`)];
    case 'change':
      return [judgeOrigin(facts.change), judgePaths(facts.change, order.paths), ...judgeTests(facts.change, isChecked)];
  }
}

function judgeOrigin(change: OrderChange): Evidence {
  const { commit, base, commits, files, lines, authors, isBackdated, linksOut, madeBySluice } = change;
  const submodules = listSubmodules(files);
  if (files.length === 0) return contradict('commit', `Commit ${formatCommit(commit)} changes no file.`);
  if (linksOut.length > 0) {
    return contradict('commit', `The change adds links that lead out of the repository: ${listFiles(linksOut)}.`);
  }
  if (submodules.length > 0) {
    return contradict('commit', `The change adds or moves submodules: ${listFiles(submodules)}.`);
  }
  const count = `${formatCount(commits, 'commit')} on top of ${formatCommit(base)}, ${formatCount(files.length, 'file')} changed`;
  const notes = [
    madeBySluice ? 'committed by Sluice' : `by ${authors.map((author) => showLine(author, 100)).join(', ')}`,
    ...(lines === 0 ? ['no line changed: files were only moved, or only their modes changed'] : []),
    ...(isBackdated ? ['dated before the work started'] : []),
  ];
  const detail = `${[`${commit}: ${count}`, ...notes].join(', ')}.`;
  return { claim: 'commit', by: 'sluice', verdict: 'confirmed', detail };
}

function judgePaths({ files }: OrderChange, allowed: readonly string[] | undefined): Evidence {
  const paths = listPaths(files);
  const disallowed =
    allowed === undefined ? [] : paths.filter((path) => !allowed.some((glob) => matchPathGlob(glob, path)));
  if (disallowed.length > 0) return contradict('paths', `Not allowed to change: ${listFiles(disallowed)}.`);
  const tests = paths.filter(isTestPath);
  const settings = paths.filter((path) => isCiPath(path) && !isTestPath(path));
  const tooling = paths.filter(
    (path) => (isSteeringPath(path) || /(?:^|\/)package\.json$/.test(path)) && !isCiPath(path) && !isTestPath(path),
  );
  const detail = [
    allowed === undefined ? 'The order sets no paths.' : `All files are within ${listFiles(allowed)}.`,
    ...(tests.length === 0 ? [] : [`Tests touched: ${listFiles(tests)}.`]),
    ...(settings.length === 0 ? [] : [`CI configuration touched: ${listFiles(settings)}.`]),
    ...(tooling.length === 0 ? [] : [`Build and test configuration touched: ${listFiles(tooling)}.`]),
  ];
  // Without paths there is nothing to compare the files with.
  const verdict = allowed === undefined ? 'unchecked' : 'confirmed';
  return { claim: 'paths', by: 'sluice', verdict, detail: detail.join(' ') };
}

/** Contradicts a change that deletes tests: it might be right, but a human has to decide. */
function judgeTests({ files, blankTests = [] }: OrderChange, isChecked: boolean): readonly Evidence[] {
  const deleted = [...listDeletedTests(files), ...(isChecked ? [] : blankTests)];
  return deleted.length === 0 ? [] : [contradict('tests', `The change deletes tests: ${listFiles(deleted)}.`)];
}

function contradict(claim: Evidence['claim'], detail: string): Evidence {
  return { claim, by: 'sluice', verdict: 'contradicted', detail };
}

function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

const MAX_LISTED_FILES = 10;

function listFiles(paths: readonly string[]): string {
  return showNames([...new Set(paths)], MAX_LISTED_FILES, 200);
}

function formatCommit(commit: string): string {
  return /^[0-9a-f]{13,}$/i.test(commit) ? commit.slice(0, 12) : showLine(commit, 100);
}
