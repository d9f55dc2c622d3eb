import { mkdir, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { FileError, openNew, requireOwnFolder } from '../../files/index.js';
import { errorCodeOf } from '../../base/index.js';
import type { LaunchFile } from '../launchers/launcher.js';

/**
 * Writes what an engine reads its settings from, into the run folder. An agent may have worked there before: a link it
 * left would choose where we write, so links are not followed and files are made anew.
 */
export async function writeSettings(runDir: string, files: readonly LaunchFile[]): Promise<void> {
  for (const { path, text } of files) {
    await makeFolders(runDir, dirname(path));
    await rm(path, { force: true });
    const file = await openNew(path);
    try {
      await file.writeFile(text);
    } finally {
      await file.close();
    }
  }
}

async function makeFolders(runDir: string, folder: string): Promise<void> {
  const steps = relative(runDir, folder).split(sep);
  if (steps[0] === '..') throw new FileError('UNSAFE_FILE', `${folder} is not in the run folder.`);
  let path = runDir;
  for (const step of steps) {
    path = join(path, step);
    await mkdir(path).catch((error: unknown) => {
      if (errorCodeOf(error) !== 'EEXIST') throw error;
    });
    await requireOwnFolder(path);
  }
}
