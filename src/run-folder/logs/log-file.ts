import type { FileHandle } from 'node:fs/promises';
import { openForAppending } from '../../files/index.js';
import type { Below } from '../../base/index.js';

/** A log of one JSON value a line that only grows. */
export interface LogFile {
  /** Adds values, each a line; they are in the file when this resolves, in the order of the calls. */
  append(values: readonly object[]): Promise<void>;
  /** The same for values that are lines of JSON already, each with its newline. */
  appendLines(lines: string): Promise<void>;
  /** Syncs what was added to disk, so that it survives a power failure. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

const NEWLINE = 0x0a;
const BLOCK = 64 * 1024;

/**
 * Opens a log for adding to it. A last line that a crash tore is cut off first: its event was never published, and
 * the next line must not grow onto it.
 *
 * @example
 * const log = await openLogFile(folder.logPath('fcmp'))
 * await log.append([event])
 */
export async function openLogFile(path: string, below: Below = {}): Promise<LogFile> {
  const file = await openForAppending(path, below);
  await cutTornLine(file);
  // After a write failed halfway, the next line would be appended to a torn one, so the failure is permanent.
  let last: Promise<void> = Promise.resolve();

  async function appendLines(lines: string): Promise<void> {
    if (lines !== '') last = last.then(async () => file.appendFile(lines));
    return last;
  }

  return {
    append: async (values) => appendLines(values.map((value) => `${JSON.stringify(value)}\n`).join('')),
    appendLines,
    async sync() {
      await last;
      await file.datasync();
    },
    async close() {
      await last.catch(() => undefined);
      await file.close();
    },
  };
}

/** Looks for the last newline from the end, so that the cost is that of the torn line, not of the log. */
async function cutTornLine(file: FileHandle): Promise<void> {
  const { size } = await file.stat();
  const block = Buffer.alloc(BLOCK);
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - BLOCK);
    const { bytesRead } = await file.read(block, 0, end - start, start);
    const newline = block.subarray(0, bytesRead).lastIndexOf(NEWLINE);
    if (newline >= 0) {
      const whole = start + newline + 1;
      if (whole < size) await file.truncate(whole);
      return;
    }
    end = start;
  }
  if (size > 0) await file.truncate(0);
}
