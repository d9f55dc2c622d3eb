import { join } from 'node:path';
import { makeFolder, replaceFile } from '../../files/index.js';
import { isThere } from '../is-there.js';
import type { PackFile } from '../wrappers/context-pack.js';

/** Writes an order's files into its run folder; each is there whole or not at all. */
export async function writePackFiles(runDir: string, files: readonly PackFile[]): Promise<void> {
  await makeFolder(runDir);
  for (const { path, text } of files) await replaceFile(join(runDir, path), text);
}

/** Writes a file unless one of these is there already: what a worker wrote itself counts. */
export async function keepAbsentFile(runDir: string, file: PackFile, others: readonly string[]): Promise<void> {
  for (const name of others) {
    if (await isThere(join(runDir, name))) return;
  }
  await replaceFile(join(runDir, file.path), file.text);
}
