import { fstatSync, type BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { isSluiceError, type TrustedRoot } from '../../base/index.js';
import { openForReading, readSpan, type OpenedFile } from '../../base/files/index.js';
import type { Problem } from '../../store/records/index.js';

/** The names of an agent's result file, most trusted first. */
export const RESULT_FILES = ['work_result.json', 'work_result.txt'] as const;

/** A result is a short summary; a megabyte is ample. */
export const RESULT_BYTES = 1024 * 1024;

/** The state of a result file. `outdated`: it existed before the run started. */
type ResultFile =
  | { readonly status: 'absent' }
  | { readonly status: 'outdated' }
  | { readonly status: 'unreadable'; readonly problem: Problem }
  | { readonly status: 'read'; readonly text: string };

// File times come from a clock that ticks every few milliseconds and can lag behind the clock that timed the start.
const CLOCK_TICK_MS = 20;
// A file modified this recently might still be open for writing, so it is checked again after a delay.
const RECENT_MS = 2000;
const SECOND_CHECK_MS = 100;

/** Facts about the agent that wrote a file. */
interface Writer {
  /** When it was started, in milliseconds since 1970: an older file is outdated. */
  readonly startedAt?: number | undefined;
  /** All its processes have exited, so a recently modified file is not still being written. */
  readonly hasEnded?: boolean | undefined;
}

/**
 * Reads a file that an agent wrote. It could be a link, a pipe, endless, or half-written: only a complete file is
 * accepted.
 */
export async function readResultFile(path: string, writer: Writer & TrustedRoot = {}): Promise<ResultFile> {
  let handle: OpenedFile | undefined;
  try {
    handle = await openForReading(path, writer);
    return handle === undefined ? { status: 'absent' } : await readHandle(handle, path, writer);
  } catch (error) {
    const isUnsafe = isSluiceError(error) && error.code === 'UNSAFE_FILE';
    return isUnsafe
      ? createUnreadable('RESULT_UNSAFE_FILE', 'it is a link, a folder or a pipe; write a regular file')
      : createUnreadable('RESULT_UNREADABLE', 'it cannot be read; check its permissions');
  } finally {
    await handle?.close();
  }
}

async function readHandle(handle: OpenedFile, path: string, { startedAt, hasEnded }: Writer): Promise<ResultFile> {
  const first = fstatSync(handle.fd, { bigint: true });
  // A hard-linked file could be another run's result, or be changed through its other name after it was read.
  if (first.nlink > 1n) return createUnreadable('RESULT_UNSAFE_FILE', 'it is a hard link; write a separate file');
  if (startedAt !== undefined && Number(first.mtimeMs) < startedAt - CLOCK_TICK_MS) return { status: 'outdated' };
  if (first.size > BigInt(RESULT_BYTES)) {
    return createUnreadable(
      'RESULT_TOO_LARGE',
      `it is larger than ${RESULT_BYTES} bytes; write logs to another file and link to it`,
    );
  }
  // One byte more than expected detects a growing file.
  const bytes = await readSpan(handle, 0, Number(first.size) + 1);
  if (hasEnded !== true && Date.now() - Number(first.mtimeMs) < RECENT_MS)
    await new Promise<void>((resolve) => {
      setTimeout(resolve, SECOND_CHECK_MS);
    });
  const second = await lstat(path, { bigint: true }).catch(() => undefined);
  const isComplete = second !== undefined && isSame(first, second) && BigInt(bytes.length) === first.size;
  return isComplete
    ? decodeText(bytes)
    : createUnreadable(
        'RESULT_CHANGING',
        'it was still being written; write a temporary file and rename it before the process exits',
      );
}

function isSame(first: BigIntStats, second: BigIntStats): boolean {
  return first.ino === second.ino && first.size === second.size && first.mtimeNs === second.mtimeNs;
}

function createUnreadable(code: string, message: string): ResultFile {
  return { status: 'unreadable', problem: { code, message } };
}

/**
 * Decodes UTF-8, with or without a byte order mark, or UTF-16 with a byte order mark, which some shells write. Invalid
 * bytes are an error.
 */
export function decodeText(bytes: Uint8Array): ResultFile {
  try {
    const text = new TextDecoder(detectEncoding(bytes), { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return { status: 'read', text };
  } catch {
    // Reported below: to the author of an agent, invalid bytes and text with NUL in it are the same problem.
  }
  return createUnreadable('RESULT_NOT_UTF8', 'it is not UTF-8 text; write it as UTF-8');
}

function detectEncoding([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}
