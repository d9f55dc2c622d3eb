import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../../files/index.js';
import { runGit } from '../../../orders/index.js';
import type { RepositoryStart } from './repository.js';
import { takeObjects } from './take-objects.js';

const LONG = { timeLimitMs: 300_000 };

/**
 * Writes the files of a commit into a new folder, as a private repository: with objects of the agent's repository whose
 * content is verified, and nothing of its configuration, hooks or filters. A sentence if that cannot be done.
 */
export async function checkOut(
  { objects, format, shallow }: Pick<RepositoryStart, 'objects' | 'format' | 'shallow'>,
  commit: string,
  folder: string,
): Promise<{ readonly error?: string }> {
  await rm(folder, { recursive: true, force: true });
  await makeFolder(folder);
  const gitDir = join(folder, '.git');
  const made = await runGit(folder, ['init', '--quiet', '--template=', `--object-format=${format}`, '.']);
  if (made.code !== 0) return { error: 'git could not make a folder for the check' };
  const taken = await takeObjects(gitDir, { objects, commits: [commit] });
  if (taken.error !== undefined) return taken;
  await writeFile(join(gitDir, 'HEAD'), `${commit}\n`);
  const options = { ...LONG, gitDir, workTree: folder };
  const read = await runGit(folder, ['read-tree', commit], options);
  const filled =
    read.code === 0
      ? await runGit(folder, ['checkout-index', '--all', '--force', '--quiet', '--index'], options)
      : read;
  if (filled.code !== 0) return { error: `the commit could not be checked out: ${filled.stderr.trim().slice(-200)}` };
  // The files are written; what a check wants to know of the history it finds in the agent's repository.
  await writeFile(join(gitDir, 'objects', 'info', 'alternates'), `${objects}\n`);
  if (shallow !== null) await writeFile(join(gitDir, 'shallow'), shallow);
  return {};
}
