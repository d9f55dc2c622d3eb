import { join } from 'node:path';
import { readSmallFile } from '../../base/files/index.js';
import { runGit, type GitFilters } from './run-git.js';

/*
 * Git LFS stores file contents outside git. Sluice neither downloads nor uploads them, and reports when that matters.
 */

const ATTRIBUTES_BYTES = 64 * 1024;

/**
 * Whether a worktree contains pointers instead of files: the repository uses Git LFS, and its filter is not allowed to
 * run.
 */
export async function hasPointers(folder: string, filters: GitFilters): Promise<boolean> {
  if (Object.keys(filters).some((key) => key.startsWith('filter.lfs.'))) return false;
  const attributes = await readSmallFile(join(folder, '.gitattributes'), ATTRIBUTES_BYTES).catch(() => undefined);
  return attributes !== undefined && /^[^#\n]*\sfilter=lfs\b/m.test(attributes);
}

/** Explains a checkout that failed because content is missing; returns undefined if it failed for another reason. */
export function explainMissingContent(stderr: string, repoDir: string): string | undefined {
  const file = /^fatal: (.+): smudge filter lfs failed$/m.exec(stderr)?.[1];
  if (file === undefined) return undefined;
  return (
    `the content of "${file.slice(0, 200)}" is stored by Git LFS and is not on this host; Sluice does not download it. ` +
    `Run "git lfs fetch --all" in "${repoDir}", or remove "lfs" from "git.filters" to work with pointers`
  );
}

const POINTER = 'version https://git-lfs.github.com/spec/v1';
/** If more files have changed, the whole tree is searched, because the command line length is limited. */
const MAX_PATHS = 200;
const MAX_LISTING = 8 * 1024 * 1024;

/** Finds a file that a commit changed compared with HEAD and that is only a pointer in git. */
export async function findPointer(gitDir: string, commit: string): Promise<string | undefined> {
  const options = { gitDir, maxBytes: MAX_LISTING, timeLimitMs: 60_000 };
  const flags = ['-r', '-z', '--no-renames', '--diff-filter=AM', '--name-only'];
  const changed = await runGit(gitDir, ['diff-tree', ...flags, 'HEAD', commit], options);
  const paths = changed.stdout.split('\0').filter(Boolean);
  if (changed.code !== 0 || paths.length === 0) return undefined;
  const pathspecs = paths.length > MAX_PATHS ? [] : paths.map((path) => `:(literal)${path}`);
  const matches = await runGit(gitDir, ['grep', '-l', '-z', '-F', '-e', POINTER, commit, '--', ...pathspecs], options);
  const [first = ''] = matches.stdout.split('\0');
  return matches.code === 0 && first !== '' ? first.slice(commit.length + 1) : undefined;
}
