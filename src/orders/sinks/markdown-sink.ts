import { appendFileSync, closeSync, constants, fstatSync, fsync, ftruncateSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { getErrorMessage } from '../../base/index.js';
import { makeFolder, syncFolder } from '../../base/files/index.js';
import { lockFile } from '../../runs/index.js';
import { toFileName } from '../../store/records/index.js';
import type { NewOutboxMessage } from '../../store/records/index.js';
import { dropFullStop } from '../plain-text.js';
import { formatMarker, throwIfCanceled, withMarker, SinkError } from './sink.js';
import type { Sink } from './sink.js';

/** The folder for lock files, inside the comments folder. */
const LOCKS = '.locks';

const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const NON_BLOCKING = constants.O_NONBLOCK ?? 0;
const CHUNK_BYTES = 256 * 1024;

/**
 * Creates a sink that appends comments to one Markdown file per issue. Sending is idempotent, even from concurrent
 * processes: a comment whose marker is in the file is not written again, and a comment that a crash truncated is
 * replaced. Text that people add to the file is kept.
 *
 * @example
 * createMarkdownSink({ folder: 'data/comments' }) // owner/repo#7 → data/comments/owner_repo_7.md
 */
export function createMarkdownSink(options: { readonly folder: string; readonly name?: string }): Sink {
  const { folder, name = 'markdown' } = options;
  const findPath = (message: NewOutboxMessage) => join(folder, `${toFileName(message.issue_ref)}.md`);

  return {
    name,
    // Short, so a message left by a crash is retried soon: writing is fast, and writing twice is harmless.
    timeoutMs: 1000,
    accepts: () => true,
    async send(message, signal) {
      const path = findPath(message);
      try {
        await makeFolder(folder);
        // Locked across processes: two that read the file before either writes would both add the comment.
        const lock = await lockFile(join(folder, LOCKS), path, { signal });
        try {
          await append(folder, path, message);
        } finally {
          await lock.release();
        }
      } catch (error) {
        if (error instanceof SinkError) throw error;
        throwIfCanceled(signal);
        if (signal.aborted) {
          throw new SinkError('SINK_TIMED_OUT', `Cannot write to "${path}": another process has locked it.`, {
            cause: error,
          });
        }
        const why = dropFullStop(getErrorMessage(error));
        throw new SinkError(
          'SINK_FILE_UNUSABLE',
          `Cannot write to "${path}": ${why}. Check its folder, permissions and disk space.`,
          { cause: error },
        );
      }
      return { deliveredTo: path };
    },
  };
}

const sync = promisify(fsync);

/** Synchronous, except for the disk: each call takes microseconds, and on another thread ten times as long. */
async function append(folder: string, path: string, message: NewOutboxMessage): Promise<void> {
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | NO_FOLLOW | NON_BLOCKING;
  const file = openSync(path, flags, 0o666);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) {
      throw new SinkError('SINK_FILE_UNUSABLE', `"${path}" is not a regular file. Remove it.`, { isPermanent: true });
    }
    const { size } = stats;
    const entry = Buffer.from(`${withMarker(message)}\n`);
    const marker = Buffer.from(`\n${formatMarker(message)}`);
    if (!contains(file, size, marker)) {
      const keptLength = size - measureTruncatedCopy(file, size, entry);
      if (keptLength < size) ftruncateSync(file, keptLength);
      const separator = Buffer.from(
        keptLength === 0 ? '' : readPart(file, keptLength - 1, 1)[0] === 0x0a ? '\n' : '\n\n',
      );
      appendFileSync(file, Buffer.concat([separator, entry]));
    }
    // Even if the marker was found: the process that wrote it could have died before this line.
    await sync(file);
  } finally {
    closeSync(file);
  }
  await syncFolder(folder);
}

function contains(file: number, size: number, needle: Buffer): boolean {
  for (let from = 0; from < size; from += CHUNK_BYTES) {
    const part = readPart(file, from, Math.min(CHUNK_BYTES + needle.length, size - from));
    if (part.includes(needle)) return true;
  }
  return false;
}

/** Returns the length of a truncated copy of the entry at the end of the file, which a crash left there. */
function measureTruncatedCopy(file: number, size: number, entry: Buffer): number {
  const tail = readPart(file, Math.max(0, size - entry.length), Math.min(entry.length, size));
  // A comment starts at the start of a line, with a header that the lines of its text cannot have.
  const findLine = (from: number) => tail.indexOf('\n', from) + 1 || tail.length;
  let at = tail.length === size ? 0 : findLine(0);
  while (!entry.subarray(0, tail.length - at).equals(tail.subarray(at))) at = findLine(at);
  return tail.length - at;
}

function readPart(file: number, from: number, length: number): Buffer {
  const part = Buffer.alloc(length);
  let bytesFilled = 0;
  while (bytesFilled < length) {
    const bytesRead = readSync(file, part, bytesFilled, length - bytesFilled, from + bytesFilled);
    if (bytesRead === 0) break;
    bytesFilled += bytesRead;
  }
  return part.subarray(0, bytesFilled);
}
