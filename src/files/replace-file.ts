import { open, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { openNew } from './safe-file.js';

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
 * Begins to replace a file at once: whoever reads it sees the old content or the new, whole, also after a crash. The
 * new content is written to a file beside it until it is committed.
 */
export async function beginReplacement(path: string): Promise<Replacement> {
  made += 1;
  const temporary = `${path}.${process.pid}.${Date.now()}.${made}.tmp`;
  const file = await openNew(temporary);
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
      await rename(temporary, path);
      await syncFolder(dirname(path));
    },
    async discard() {
      await close();
      await rm(temporary, { force: true });
    },
  };
}

/** Replaces a file by a text, at once. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const replacement = await beginReplacement(path);
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
