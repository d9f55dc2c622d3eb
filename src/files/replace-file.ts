import { open, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { getErrorCode } from '../base/index.js';
import { openNew } from './safe-file.js';
import { withFolder } from './safe-folder.js';
import type { Below } from '../base/index.js';

let made = 0;

/** New content of a file, on its way. */
export interface Replacement {
  readonly file: FileHandle;
  /** Puts the new content in the place of the old. */
  commit(): Promise<void>;
  /** Leaves the old content as it is; harmless after `commit`. */
  discard(): Promise<void>;
}

/**
 * Begins to replace a file at once: a reader gets the old content or the new, whole, also after a crash. The
 * new content is written to a file beside it until it is committed. Below a folder that is named, no link is followed.
 */
export async function beginReplacement(path: string, below: Below = {}): Promise<Replacement> {
  made += 1;
  const [name, temporary] = [basename(path), `${basename(path)}.${process.pid}.${Date.now()}.${made}.tmp`];
  const folder = dirname(path);
  const inFolder = async <T>(work: (place: string) => Promise<T>): Promise<T> =>
    withFolder(folder, { below: below.below ?? folder }, { work });
  const file = await inFolder(async (place) => openNew(join(place, temporary)));
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await file.close();
  };
  return {
    file,
    async commit() {
      await file.sync();
      await close();
      await inFolder(async (place) => {
        await rename(join(place, temporary), join(place, name));
        await syncFolder(place);
      });
    },
    async discard() {
      await close();
      await inFolder(async (place) => rm(join(place, temporary), { force: true })).catch((error: unknown) => {
        // The folder is gone, and the file with it.
        if (getErrorCode(error) !== 'ENOENT') throw error;
      });
    },
  };
}

/** Replaces a file by a text, at once. */
export async function replaceFile(path: string, text: string, below: Below = {}): Promise<void> {
  const replacement = await beginReplacement(path, below);
  try {
    await replacement.file.appendFile(text);
    await replacement.commit();
  } finally {
    await replacement.discard();
  }
}

/** Makes a rename survive a loss of power, where the system can. */
export async function syncFolder(path: string): Promise<void> {
  // Windows cannot open a folder, and has nothing to sync there.
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
