import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../../files/index.js';
import { runGit } from '../../../orders/index.js';
import type { GitEnd, GitOptions } from '../../../orders/index.js';

const LONG = { timeLimitMs: 300_000 };
/** About six million objects. */
const MAX_LISTING = 256 * 1024 * 1024;
/** The most commits between two that are looked at. */
const MAX_COMMITS = 10_000;

/** The objects to copy. */
export interface WantedObjects {
  /** The folder with the objects of the agent's repository. */
  readonly objects: string;
  /** Commits whose files are taken. */
  readonly commits: readonly string[];
  /** Commits on the way from the first to the second are taken too, without files. */
  readonly between?: readonly [string, string];
  /** Only folders, not the content of files. */
  readonly withoutFiles?: boolean;
}

/**
 * Copies objects from an agent's repository into a private git directory, each under the name that its content gives it.
 * Git itself believes the name of a file there: an agent could put another content under it, and a check that seems
 * untouched would run that. A sentence if something is missing afterwards.
 */
export async function takeObjects(
  gitDir: string,
  { objects, commits, between, withoutFiles = false }: WantedObjects,
): Promise<{ readonly error?: string }> {
  const call = async (args: readonly string[], more: GitOptions = {}): Promise<GitEnd> =>
    runGit(gitDir, args, { ...LONG, gitDir, maxBytes: MAX_LISTING, ...more });
  const alternates = join(gitDir, 'objects', 'info', 'alternates');
  await makeFolder(join(gitDir, 'objects', 'info'));
  await writeFile(alternates, `${objects}\n`);
  try {
    const filter = withoutFiles ? ['--filter=blob:none'] : [];
    const [list, way] = await Promise.all([
      call(['rev-list', '--objects', '--no-object-names', '--no-walk', ...filter, ...commits]),
      between === undefined
        ? { code: 0, stdout: '' }
        : call(['rev-list', `--max-count=${MAX_COMMITS + 1}`, between[1], `^${between[0]}`]),
    ]);
    if (list.code !== 0 || way.code !== 0) return { error: 'its objects could not be listed' };
    const names = [...new Set(`${list.stdout}${way.stdout}`.split('\n').filter(Boolean))];
    if (way.stdout.split('\n').length > MAX_COMMITS + 1) return { error: 'it has too many commits' };
    return await copy(gitDir, alternates, names, call);
  } finally {
    await rm(alternates, { force: true });
  }
}

async function copy(
  gitDir: string,
  alternates: string,
  names: readonly string[],
  call: (args: readonly string[], more?: GitOptions) => Promise<GitEnd>,
): Promise<{ readonly error?: string }> {
  const folder = join(gitDir, 'objects', 'pack');
  await makeFolder(folder);
  const input = `${names.join('\n')}\n`;
  const packed = await call(['pack-objects', '--quiet', '--window=0', join(folder, 'taken')], { input });
  if (packed.code !== 0) return { error: `its objects could not be read: ${packed.stderr.trim().slice(-200)}` };
  await rm(alternates, { force: true });
  const files = await readdir(folder);
  // The index that was made from the names in the agent's repository is not believed.
  for (const file of files.filter((each) => !each.endsWith('.pack'))) await rm(join(folder, file), { force: true });
  for (const file of files.filter((each) => each.endsWith('.pack'))) {
    const indexed = await call(['index-pack', join(folder, file)]);
    if (indexed.code !== 0) return { error: `its objects are damaged: ${indexed.stderr.trim().slice(-200)}` };
  }
  const found = await call(['cat-file', '--batch-check=%(objectname)'], { input });
  const missing = found.stdout.split('\n').find((line) => line.endsWith(' missing'));
  if (found.code !== 0 || missing !== undefined) return { error: 'its objects do not have the content of their names' };
  return {};
}
