import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { isSluiceError } from '../../base/index.js';
import { openForReading } from '../../files/index.js';
import type { Below } from '../../base/index.js';
import type { Problem } from '../../records/index.js';

/** The names under which a worker may leave its result, in the order of trust. */
export const RESULT_FILES = ['work_result.json', 'work_result.txt'] as const;

/** A result says what was done in words; a megabyte is ample. */
export const RESULT_BYTES = 1024 * 1024;

/** The state of a result file. `outdated`: it existed before the run began. */
export type ResultFile =
  | { readonly status: 'absent' }
  | { readonly status: 'outdated' }
  | { readonly status: 'unreadable'; readonly problem: Problem }
  | { readonly status: 'read'; readonly bytes: Uint8Array };

// File times come from a clock that ticks every few milliseconds and may be behind the one that began the run.
const CLOCK_TICK_MS = 20;
// A file touched this short a time ago may still be written: it is looked at twice, this far apart.
const RECENT_MS = 2000;
const SECOND_LOOK_MS = 100;

/** Facts about the worker that wrote a file. */
export interface Writer {
  /** When it was started, in milliseconds since 1970: an older file is not its own. */
  readonly startedAt?: number | undefined;
  /** Nothing of it runs any more: a file touched a moment ago is not being written. */
  readonly hasEnded?: boolean | undefined;
}

/** Reads a file that a worker wrote. It may be a link, a pipe, endless, or half written: only a whole one is read. */
export async function readResultFile(path: string, writer: Writer & Below = {}): Promise<ResultFile> {
  let handle: FileHandle | undefined;
  try {
    handle = await openForReading(path, writer);
    return handle === undefined ? { status: 'absent' } : await readHandle(handle, path, writer);
  } catch (error) {
    const isUnsafe = isSluiceError(error) && error.code === 'UNSAFE_FILE';
    return isUnsafe
      ? unreadable('RESULT_UNSAFE_FILE', 'it is a link, a folder or a pipe; write a regular file')
      : unreadable('RESULT_UNREADABLE', 'it cannot be read; check its permissions');
  } finally {
    await handle?.close();
  }
}

async function wait(milliseconds: number): Promise<void> {
  await new Promise<void>((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

async function readHandle(handle: FileHandle, path: string, { startedAt, hasEnded }: Writer): Promise<ResultFile> {
  const first = await handle.stat({ bigint: true });
  // A second name may be that of another run's result, or of a file that changes after it was read.
  if (first.nlink > 1n) return unreadable('RESULT_UNSAFE_FILE', 'it is a hard link; write a separate file');
  if (startedAt !== undefined && Number(first.mtimeMs) < startedAt - CLOCK_TICK_MS) return { status: 'outdated' };
  if (first.size > BigInt(RESULT_BYTES)) {
    return unreadable(
      'RESULT_TOO_LARGE',
      `it is larger than ${RESULT_BYTES} bytes; write logs to another file and link to it`,
    );
  }
  const bytes = await readBytes(handle, Number(first.size));
  if (hasEnded !== true && Date.now() - Number(first.mtimeMs) < RECENT_MS) await wait(SECOND_LOOK_MS);
  const second = await lstat(path, { bigint: true }).catch(() => undefined);
  const isWhole = second !== undefined && isSame(first, second) && BigInt(bytes.length) === first.size;
  return isWhole
    ? { status: 'read', bytes }
    : unreadable(
        'RESULT_CHANGING',
        'it was still being written; write a temporary file and rename it before the process exits',
      );
}

/** One byte more than there should be is asked for, so that a file that grows is noticed. */
async function readBytes(handle: FileHandle, size: number): Promise<Uint8Array> {
  const buffer = Buffer.alloc(size + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

function isSame(first: BigIntStats, second: BigIntStats): boolean {
  return first.ino === second.ino && first.size === second.size && first.mtimeNs === second.mtimeNs;
}

function unreadable(code: string, message: string): ResultFile {
  return { status: 'unreadable', problem: { code, message } };
}

/** The text of a result file, or why it cannot be decoded. */
export type DecodedText =
  | { readonly text: string; readonly problem?: undefined }
  | { readonly text?: undefined; readonly problem: Problem };

/** UTF-8, with or without a byte order mark, or UTF-16 with one: some shells write that. Nothing is guessed and nothing replaced. */
export function decodeText(bytes: Uint8Array): DecodedText {
  try {
    const text = new TextDecoder(detectEncoding(bytes), { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return { text };
  } catch {
    // Reported below: to the author of an agent, invalid bytes and text with NUL in it are the same problem.
  }
  return { problem: { code: 'RESULT_NOT_UTF8', message: 'it is not UTF-8 text; write it as UTF-8' } };
}

function detectEncoding([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}
