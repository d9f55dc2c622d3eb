import { open, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { getErrorCode } from '../index.js';
import { openNew } from './safe-file.js';
import { withFolder } from './safe-folder.js';
import type { TrustedRoot } from '../index.js';

let replacementCount = 0;

/** New file content that is not committed yet. */
export interface Replacement {
  readonly file: FileHandle;
  /** Replaces the old content with the new. */
  commit(): Promise<void>;
  /** Leaves the old content unchanged; does nothing after `commit`. */
  discard(): Promise<void>;
}

/** Options for replacing a file. */
export interface ReplaceOptions extends TrustedRoot {
  /**
   * Whether the new content must survive a power failure, not only a crash of this process; true by default. Costs two
   * disk syncs.
   */
  readonly isDurable?: boolean;
}

/**
 * Starts an atomic replacement of a file: a reader gets either the old content or the new, even after a crash. The new
 * content is written to a temporary file in the same folder until it is committed. No link is followed below
 * `trustedRoot`.
 */
export async function beginReplacement(
  path: string,
  { trustedRoot, isDurable = true }: ReplaceOptions = {},
): Promise<Replacement> {
  replacementCount += 1;
  const [name, temporary] = [basename(path), `${basename(path)}.${process.pid}.${Date.now()}.${replacementCount}.tmp`];
  const folder = dirname(path);
  const inFolder = async <T>(work: (folderPath: string) => Promise<T>): Promise<T> =>
    withFolder(folder, { trustedRoot: trustedRoot ?? folder }, { work });
  const file = await inFolder(async (folderPath) => openNew(join(folderPath, temporary)));
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
      await inFolder(async (folderPath) => {
        await rename(join(folderPath, temporary), join(folderPath, name));
        if (isDurable) await syncFolder(folderPath);
      });
    },
    async discard() {
      await close();
      await inFolder(async (folderPath) => rm(join(folderPath, temporary), { force: true })).catch((error: unknown) => {
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

/** Makes a rename survive a power failure, if the system supports it. */
export async function syncFolder(path: string): Promise<void> {
  // Windows cannot open a folder, and does not need to sync it.
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
