import { open, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { getErrorCode } from '../base/index.js';
import { openNew } from './safe-file.js';
import { withFolder } from './safe-folder.js';
import type { Below } from '../base/index.js';

let made = 0;

/** New content of a file that is not committed yet. */
export interface Replacement {
  readonly file: FileHandle;
  /** Replaces the old content by the new. */
  commit(): Promise<void>;
  /** Leaves the old content as it is; harmless after `commit`. */
  discard(): Promise<void>;
}

/** Options for replacing a file. */
export interface ReplaceOptions extends Below {
  /**
   * Whether the new content must survive a power failure, and not only the end of this process; true by default. It takes two
   * waits for the disk, which others use at the same time.
   */
  readonly isDurable?: boolean;
}

/**
 * Begins an atomic replacement of a file: a reader gets all of the old content or all of the new, also after a crash. The new
 * content is written to a temporary file in the same folder until it is committed. No link is followed below `below`.
 */
export async function beginReplacement(
  path: string,
  { below, isDurable = true }: ReplaceOptions = {},
): Promise<Replacement> {
  made += 1;
  const [name, temporary] = [basename(path), `${basename(path)}.${process.pid}.${Date.now()}.${made}.tmp`];
  const folder = dirname(path);
  const inFolder = async <T>(work: (place: string) => Promise<T>): Promise<T> =>
    withFolder(folder, { below: below ?? folder }, { work });
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
      if (isDurable) await file.sync();
      await close();
      await inFolder(async (place) => {
        await rename(join(place, temporary), join(place, name));
        if (isDurable) await syncFolder(place);
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

/** Replaces the content of a file atomically. */
export async function replaceFile(path: string, text: string, options: ReplaceOptions = {}): Promise<void> {
  const replacement = await beginReplacement(path, options);
  try {
    await replacement.file.appendFile(text);
    await replacement.commit();
  } finally {
    await replacement.discard();
  }
}

/** Makes a rename durable, so that it survives a power failure, where the system supports it. */
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
