import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, removeFolder } from '../../base/files/index.js';
import { adaptGitFilters } from './git-filters.js';
import { describeGitFailure, runGit, type GitFilters, type GitOptions } from './run-git.js';
import type { RepositoryStart } from './repository.js';
import { copyObjects } from './copy-objects.js';

const LONG = { timeLimitMs: 300_000 };

/** The files to write: those of a commit, with some of them as they were at its base. */
export interface CheckedOut {
  readonly commit: string;
  readonly base?: {
    readonly commit: string;
    /** Files to restore. */
    readonly restored: readonly string[];
    /** Files to remove, because the base does not have them. */
    readonly removed: readonly string[];
  };
}

/**
 * Writes a commit's files into a new folder, as a private repository. It uses verified objects from the agent's
 * repository, but not its configuration, hooks or filters: only the given filters run. Returns an error if that fails.
 */
export async function checkOut(
  { objects, format, shallow }: Pick<RepositoryStart, 'objects' | 'format' | 'shallow'>,
  { commit, base }: CheckedOut,
  folder: string,
  filters: GitFilters,
): Promise<{ readonly error?: string }> {
  await removeFolder(folder);
  await makeFolder(folder);
  const gitDir = join(folder, '.git');
  const created = await runGit(folder, ['init', '--quiet', '--template=', `--object-format=${format}`, '.']);
  if (created.code !== 0) return { error: 'git could not create a repository for the check' };
  const commits = [commit, ...(base === undefined ? [] : [base.commit])];
  const copied = await copyObjects(gitDir, { objects, commits });
  if (copied.error !== undefined) return copied;
  await writeFile(join(gitDir, 'HEAD'), `${commit}\n`);
  const options = { ...LONG, gitDir, workTree: folder, filters: adaptGitFilters(filters, objects) };
  const read = await runGit(folder, ['read-tree', commit], options);
  const checkOutIndex = ['checkout-index', '--all', '--force', '--quiet', '--index'];
  const filled = read.code === 0 ? await runGit(folder, checkOutIndex, options) : read;
  if (filled.code !== 0) return { error: `the commit could not be checked out: ${describeGitFailure(filled)}` };
  const error = Object.keys(filters).length === 0 ? undefined : await checkFiltered(folder, commit, options);
  if (error !== undefined) return { error };
  const notRestored = base === undefined ? undefined : await restoreFiles(folder, base, options);
  if (notRestored !== undefined) return { error: `the earlier files could not be restored: ${notRestored}` };
  // The files are written. From here on, a check that needs the history reads it from the agent's repository.
  await writeFile(join(gitDir, 'objects', 'info', 'alternates'), `${objects}\n`);
  if (shallow !== null) await writeFile(join(gitDir, 'shallow'), shallow);
  return {};
}

/** Writes and removes files as they were at the base; returns an error if that fails. */
async function restoreFiles(
  folder: string,
  { commit, restored, removed }: NonNullable<CheckedOut['base']>,
  options: GitOptions,
): Promise<string | undefined> {
  for (const path of removed) await rm(join(folder, path), { force: true });
  if (restored.length === 0) return undefined;
  const input = restored.map((path) => `:(literal)${path}\0`).join('');
  const flags = ['--quiet', '--pathspec-from-file=-', '--pathspec-file-nul'];
  const written = await runGit(folder, ['checkout', ...flags, commit], { ...options, input });
  return written.code === 0 ? undefined : describeGitFailure(written);
}

/** The maximum length of a file list: about a million files. */
const MAX_LISTING = 256 * 1024 * 1024;

/**
 * Checks that filters would convert the files they wrote back to the content in the commit; returns an error otherwise.
 * Git LFS trusts file names in its store, as git does: an agent could put other content there. A file is also correct
 * if it equals the unfiltered content in the commit.
 */
async function checkFiltered(
  folder: string,
  commit: string,
  options: GitOptions & { readonly gitDir: string },
): Promise<string | undefined> {
  const { filters = {} } = options;
  const withIndex = { ...options, indexFile: join(options.gitDir, 'filtered-index'), maxBytes: MAX_LISTING };
  const listed = await runGit(folder, ['ls-files', '-z'], { ...options, maxBytes: MAX_LISTING });
  const check = ['check-attr', '-z', '--stdin', 'filter'];
  const attributes = await runGit(folder, check, { ...withIndex, input: listed.stdout });
  const unlisted = [listed, attributes].find(({ code }) => code !== 0);
  if (unlisted !== undefined) return `the filtered files could not be listed: ${describeGitFailure(unlisted)}`;
  const names = new Set(Object.keys(filters).map((key) => /^filter\.(.+)\.\w+$/.exec(key)?.[1]));
  // Three fields each: path, attribute, value.
  const fields = attributes.stdout.split('\0');
  let suspects = fields.filter((_, index) => index % 3 === 0 && fields[index] !== '' && names.has(fields[index + 2]));
  try {
    for (const allowed of [filters, {}]) {
      if (suspects.length === 0) return undefined;
      const read = await runGit(folder, ['read-tree', commit], withIndex);
      const input = suspects.map((path) => `${path}\0`).join('');
      const added = await runGit(folder, ['update-index', '-z', '--stdin'], { ...withIndex, filters: allowed, input });
      const differs = await runGit(folder, ['diff-index', '--cached', '--name-only', '-z', commit], withIndex);
      const failed = [read, added, differs].find(({ code }) => code !== 0);
      if (failed !== undefined)
        return `filtered files could not be compared with the commit: ${describeGitFailure(failed)}`;
      suspects = differs.stdout.split('\0').filter(Boolean);
    }
    const [first] = suspects;
    return first === undefined
      ? undefined
      : `"${first.slice(0, 200)}" differs from the commit, according to its filter`;
  } finally {
    await rm(withIndex.indexFile, { force: true });
  }
}
