import { join } from 'node:path';
import { readSmallFile } from '../../files/index.js';
import { runGit } from '../../orders/index.js';
import type { GitFilters } from '../../orders/index.js';

/*
 * Git LFS keeps the content of files outside of git. Sluice neither downloads nor uploads it, and says so where that matters.
 */

const ATTRIBUTES_BYTES = 64 * 1024;

/** Whether the agent finds pointers instead of files in a worktree: the repository uses Git LFS, and its filter may not run. */
export async function holdsPointers({
  folder,
  filters = {},
}: {
  readonly folder: string;
  readonly filters?: GitFilters;
}): Promise<boolean> {
  if (Object.keys(filters).some((key) => key.startsWith('filter.lfs.'))) return false;
  const attributes = await readSmallFile(join(folder, '.gitattributes'), ATTRIBUTES_BYTES).catch(() => undefined);
  return attributes !== undefined && /^[^#\n]*\sfilter=lfs\b/m.test(attributes);
}

/** Says what to do about a checkout that failed for missing content; undefined if it failed for another reason. */
export function explainMissingContent(stderr: string, repoDir: string): string | undefined {
  const file = /^fatal: (.+): smudge filter lfs failed$/m.exec(stderr)?.[1];
  if (file === undefined) return undefined;
  return (
    `the content of "${file.slice(0, 200)}" is kept by Git LFS and is not on this machine, and Sluice downloads none. ` +
    `Run "git lfs fetch --all" in "${repoDir}", or remove "lfs" from "git.filters" to work with pointers`
  );
}

const POINTER = 'version https://git-lfs.github.com/spec/v1';
/** More changed files are searched as a whole tree: a command line has a limit. */
const MAX_PATHS = 200;
const MAX_LISTING = 8 * 1024 * 1024;

/** A file that a commit changed, beside where work begins, and of which only the pointer is in git. */
export async function findPointer(gitDir: string, commit: string): Promise<string | undefined> {
  const options = { gitDir, maxBytes: MAX_LISTING, timeLimitMs: 60_000 };
  const changed = await runGit(
    gitDir,
    ['diff-tree', '-r', '-z', '--no-renames', '--diff-filter=AM', '--name-only', 'HEAD', commit],
    options,
  );
  const paths = changed.stdout.split('\0').filter(Boolean);
  if (changed.code !== 0 || paths.length === 0) return undefined;
  const places = paths.length > MAX_PATHS ? [] : paths.map((path) => `:(literal)${path}`);
  const found = await runGit(gitDir, ['grep', '-l', '-z', '-F', '-e', POINTER, commit, '--', ...places], options);
  const [first = ''] = found.stdout.split('\0');
  return found.code === 0 && first !== '' ? first.slice(commit.length + 1) : undefined;
}
