import type { FileHandle } from 'node:fs/promises';
import { openForAppending } from '../../files/index.js';
import type { TrustedRoot } from '../../base/index.js';

/** An append-only log with one JSON value per line. */
export interface LogFile {
  /** Appends values, one per line, in the order of the calls; resolves once they are in the file. */
  append(values: readonly object[]): Promise<void>;
  /** Appends lines that are already formatted, each with its newline. */
  appendLines(lines: string): Promise<void>;
  /** Syncs appended data to disk, so it survives a power failure. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

const NEWLINE = 0x0a;
const BLOCK_BYTES = 64 * 1024;

/**
 * Opens a log for appending. An incomplete last line, left by a crash, is removed first: its event was never published, and
 * the next line must not be joined to it.
 *
 * @example
 * const log = await openLogFile(folder.logPath('fcmp'))
 * await log.append([event])
 */
export async function openLogFile(path: string, root: TrustedRoot = {}): Promise<LogFile> {
  const file = await openForAppending(path, root);
  try {
    await removeTornLine(file);
  } catch (error) {
    await file.close();
    throw error;
  }
  // Once a write has failed, all later ones fail too: the next line could be joined to an incomplete one.
  let lastWrite: Promise<void> = Promise.resolve();

  async function appendLines(lines: string): Promise<void> {
    if (lines !== '') lastWrite = lastWrite.then(async () => file.appendFile(lines));
    return lastWrite;
  }

  return {
    append: async (values) => appendLines(values.map((value) => `${JSON.stringify(value)}\n`).join('')),
    appendLines,
    async sync() {
      await lastWrite;
      await file.datasync();
    },
    async close() {
      await lastWrite.catch(() => undefined);
      await file.close();
    },
  };
}

/** Removes an incomplete last line. Searches backwards, so the cost depends on the length of that line, not of the log. */
async function removeTornLine(file: FileHandle): Promise<void> {
  const { size } = await file.stat();
  const block = Buffer.alloc(BLOCK_BYTES);
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - BLOCK_BYTES);
    const { bytesRead } = await file.read(block, 0, end - start, start);
    const newline = block.subarray(0, bytesRead).lastIndexOf(NEWLINE);
    if (newline >= 0) {
      const complete = start + newline + 1;
      if (complete < size) await file.truncate(complete);
      return;
    }
    end = start;
  }
  if (size > 0) await file.truncate(0);
}
