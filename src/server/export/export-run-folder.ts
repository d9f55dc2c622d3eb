import { constants, createWriteStream } from 'node:fs';
import { copyFile, lstat, mkdir, opendir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openRunFolder } from '../../run-folder/index.js';
import { SluiceError } from '../../base/index.js';
import { makeFolder } from '../../files/index.js';
import { DEEPEST_FOLDER, tarFolder } from './tar-folder.js';

/** What was exported, and where to. */
interface ExportedRun {
  readonly run_id: string;
  readonly target: string;
  readonly form: 'folder' | 'tar';
}

/**
 * Copies a run folder, for example as a test fixture: to a folder, or to an archive if the name ends in `.tar`. Links and
 * devices, which a worker may have created, are left out. Existing files are never overwritten.
 *
 * @example
 * await exportRunFolder('.sluice/runs/01J…', 'fixtures/lost-answer')
 */
export async function exportRunFolder(
  folder: string,
  target: string,
  onProgress: (bytes: number) => void = () => undefined,
): Promise<ExportedRun> {
  // A missing run is an error before anything is created.
  await openRunFolder(folder);
  const to = resolve(target);
  if ((await lstat(to).catch(() => undefined)) !== undefined) {
    throw new SluiceError('EXPORT_EXISTS', `"${to}" already exists and was not changed. Choose another target.`);
  }
  const run_id = basename(folder);
  const isTar = to.endsWith('.tar');
  const part = `${to}.${process.pid}.part`;
  try {
    await makeFolder(dirname(to));
    let done = 0;
    const count = (bytes: number): void => onProgress((done += bytes));
    if (isTar) await pipeline(counted(tarFolder(folder, run_id), count), createWriteStream(part, { flags: 'wx' }));
    else await copyFolder(folder, part, 1, count);
    await rename(part, to);
  } finally {
    await rm(part, { recursive: true, force: true }).catch(() => undefined);
  }
  return { run_id, target: to, form: isTar ? 'tar' : 'folder' };
}

async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  count: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of chunks) {
    count(chunk.length);
    yield chunk;
  }
}

async function copyFolder(from: string, to: string, depth: number, count: (bytes: number) => void): Promise<void> {
  await mkdir(to);
  for await (const entry of await opendir(from)) {
    const [source, copy] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isFile()) {
      await copyFile(source, copy, constants.COPYFILE_EXCL);
      count((await lstat(copy)).size);
    } else if (entry.isDirectory() && depth < DEEPEST_FOLDER) await copyFolder(source, copy, depth + 1, count);
  }
}
