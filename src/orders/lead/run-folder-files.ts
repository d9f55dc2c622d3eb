import { constants } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isThere } from '../is-there.js';
import type { PackFile } from '../wrappers/context-pack.js';

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** Writes an order's files into its run folder; each is there whole or not at all. */
export async function writePackFiles(runDir: string, files: readonly PackFile[]): Promise<void> {
  await mkdir(runDir, { recursive: true });
  for (const file of files) await writeWhole(runDir, file);
}

/** Writes a file unless one of these is there already: what a worker wrote itself counts. */
export async function keepAbsentFile(runDir: string, file: PackFile, others: readonly string[]): Promise<void> {
  for (const name of others) {
    if (await isThere(join(runDir, name))) return;
  }
  await writeWhole(runDir, file);
}

async function writeWhole(runDir: string, { path, text }: PackFile): Promise<void> {
  const target = join(runDir, path);
  const draft = `${target}.new`;
  await rm(draft, { force: true });
  const handle = await open(draft, NEW_FILE, 0o666);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, target);
}
