import { createWriteStream } from 'node:fs';
import { lstat, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { copyRunFiles, listFilesWithLogs } from '../../runs/run-folder/index.js';
import type { RunFolder } from '../../runs/run-folder/index.js';
import { SluiceError } from '../../base/index.js';
import { makeFolder } from '../../base/files/index.js';
import { tarRun } from './tar-files.js';

/** A finished export and its destination. */
interface ExportedRun {
  readonly run_id: string;
  readonly target: string;
  readonly form: 'folder' | 'tar';
}

/**
 * Copies a run's files, for example as a test fixture: to a folder, or to an archive if the name ends in `.tar`. Links
 * and devices, which an agent might have created, are skipped. Existing files are never overwritten.
 *
 * @example
 * await exportRunFolder({ folder: await openRun(data, '01J…'), runId: '01J…', target: 'fixtures/lost-answer' })
 */
export async function exportRunFolder(
  { folder, runId, target }: { readonly folder: RunFolder; readonly runId: string; readonly target: string },
  onProgress: (bytes: number) => void = () => undefined,
): Promise<ExportedRun> {
  const to = resolve(target);
  if ((await lstat(to).catch(() => undefined)) !== undefined) {
    throw new SluiceError('EXPORT_EXISTS', `"${to}" already exists and was not changed. Choose another target.`);
  }
  const isTar = to.endsWith('.tar');
  const part = `${to}.${process.pid}.part`;
  try {
    await makeFolder(dirname(to));
    let done = 0;
    const count = (bytes: number): void => onProgress((done += bytes));
    const files = listFilesWithLogs(folder);
    if (isTar) {
      await pipeline(countBytes(tarRun(files, runId), count), createWriteStream(part, { flags: 'wx' }));
    } else await copyRunFiles(files, part, { onBytes: count });
    await rename(part, to);
  } finally {
    await rm(part, { recursive: true, force: true }).catch(() => undefined);
  }
  return { run_id: runId, target: to, form: isTar ? 'tar' : 'folder' };
}

async function* countBytes(
  chunks: AsyncIterable<Uint8Array>,
  count: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of chunks) {
    count(chunk.length);
    yield chunk;
  }
}
