import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../../files/index.js';
import { placeGitFilters, runGit } from '../../../orders/index.js';
import type { GitFilters, GitOptions } from '../../../orders/index.js';
import type { RepositoryStart } from './repository.js';
import { takeObjects } from './take-objects.js';

const LONG = { timeLimitMs: 300_000 };

/**
 * Writes the files of a commit into a new folder, as a private repository: with objects of the agent's repository whose
 * content is verified, and nothing of its configuration, hooks or filters: only the given filters run. A sentence if that cannot be done.
 */
export async function checkOut(
  { objects, format, shallow }: Pick<RepositoryStart, 'objects' | 'format' | 'shallow'>,
  commit: string,
  folder: string,
  filters: GitFilters,
): Promise<{ readonly error?: string }> {
  await rm(folder, { recursive: true, force: true });
  await makeFolder(folder);
  const gitDir = join(folder, '.git');
  const made = await runGit(folder, ['init', '--quiet', '--template=', `--object-format=${format}`, '.']);
  if (made.code !== 0) return { error: 'git could not make a folder for the check' };
  const taken = await takeObjects(gitDir, { objects, commits: [commit] });
  if (taken.error !== undefined) return taken;
  await writeFile(join(gitDir, 'HEAD'), `${commit}\n`);
  const options = { ...LONG, gitDir, workTree: folder, filters: placeGitFilters(filters, objects) };
  const read = await runGit(folder, ['read-tree', commit], options);
  const filled =
    read.code === 0
      ? await runGit(folder, ['checkout-index', '--all', '--force', '--quiet', '--index'], options)
      : read;
  if (filled.code !== 0) return { error: `the commit could not be checked out: ${filled.stderr.trim().slice(-200)}` };
  const forged = Object.keys(filters).length === 0 ? undefined : await findForged(folder, commit, options);
  if (forged !== undefined)
    return { error: `"${forged.slice(0, 200)}" differs from the commit, according to its filter` };
  // The files are written; what a check wants to know of the history it finds in the agent's repository.
  await writeFile(join(gitDir, 'objects', 'info', 'alternates'), `${objects}\n`);
  if (shallow !== null) await writeFile(join(gitDir, 'shallow'), shallow);
  return {};
}

/** About a million files. */
const MAX_LISTING = 256 * 1024 * 1024;

/**
 * A file that a filter wrote and that it would not write back as it is in the commit. Git LFS believes the name of a file in its
 * store, as git does: an agent could put another content under it. Files that the filter left as they are in the commit are right too.
 */
async function findForged(
  folder: string,
  commit: string,
  options: GitOptions & { readonly gitDir: string },
): Promise<string | undefined> {
  const { filters = {} } = options;
  const own = { ...options, indexFile: join(options.gitDir, 'filtered-index'), maxBytes: MAX_LISTING };
  const listed = await runGit(folder, ['ls-files', '-z'], { ...options, maxBytes: MAX_LISTING });
  const asked = await runGit(folder, ['check-attr', '-z', '--stdin', 'filter'], { ...own, input: listed.stdout });
  if (listed.code !== 0 || asked.code !== 0) return '.gitattributes';
  const names = new Set(Object.keys(filters).map((key) => /^filter\.(.+)\.\w+$/.exec(key)?.[1]));
  // Each as path, attribute, value.
  const fields = asked.stdout.split('\0');
  let suspects = fields.filter((_, index) => index % 3 === 0 && fields[index] !== '' && names.has(fields[index + 2]));
  try {
    for (const allowed of [filters, {}]) {
      if (suspects.length === 0) return undefined;
      const read = await runGit(folder, ['read-tree', commit], own);
      const input = suspects.map((path) => `${path}\0`).join('');
      const added = await runGit(folder, ['update-index', '-z', '--stdin'], { ...own, filters: allowed, input });
      const differs = await runGit(folder, ['diff-index', '--cached', '--name-only', '-z', commit], own);
      if ([read, added, differs].some(({ code }) => code !== 0)) return suspects[0];
      suspects = differs.stdout.split('\0').filter(Boolean);
    }
    return suspects[0];
  } finally {
    await rm(own.indexFile, { force: true });
  }
}
