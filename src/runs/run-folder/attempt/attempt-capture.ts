import { createHash, type Hash } from 'node:crypto';
import { fstatSync } from 'node:fs';
import { get, type CapturedStream, type FsDiff, isRecord } from '../../../events/index.js';
import {
  appendTo,
  openForAppending,
  type OpenedFile,
  replaceFile,
  parseJson,
  readSmallFile,
} from '../../../base/files/index.js';
import type { WritableRunFolder, RunFolder } from '../open-run-folder.js';
import type { AttemptMeta } from './attempt-meta.js';
import { join } from 'node:path';
import type { RunFolderWarning } from '../run-folder-error.js';
import { AUDIT_FOLDER, getAttemptFileName } from '../file-names.js';

/** Bytes of a stream (`stdin`: sent to the agent), and when they arrived, in milliseconds. */
export interface CapturedChunk {
  readonly stream: CapturedStream;
  readonly bytes: Uint8Array;
  readonly ms: number;
}

export type AttemptCapture = Awaited<ReturnType<typeof openAttemptCapture>>;

/** Digest of a captured stream, to detect whether the file was changed afterwards. */
export interface StreamDigest {
  readonly attempt: number;
  readonly stream: CapturedStream;
  readonly bytes: number;
  /** In hexadecimal digits. */
  readonly sha256: string;
}

/** Opens the raw logs of an attempt. Timing is written last, so it never refers to missing bytes. */
export async function openAttemptCapture(folder: WritableRunFolder, attempt: number) {
  const timing = await openForAppending(folder.attemptPath('timing', attempt), folder);
  /** `hash` is null if an earlier process wrote to the file. */
  const files = new Map<CapturedStream, { readonly file: OpenedFile; length: number; readonly hash: Hash | null }>();
  // Once a write has failed, all later ones fail too: the timing would refer to missing bytes.
  let lastWrite: Promise<void> = Promise.resolve();

  /** Appends to a stream's file, which is opened on first use, and returns the offset of the new bytes. */
  async function append(name: CapturedStream, parts: readonly Uint8Array[]): Promise<number> {
    let log = files.get(name);
    if (log === undefined) {
      const file = await openForAppending(folder.attemptPath(name, attempt), folder);
      const length = fstatSync(file.fd).size;
      log = { file, length, hash: length === 0 ? createHash('sha256') : null };
      files.set(name, log);
    }
    const offset = log.length;
    const [only] = parts;
    const bytes = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
    await appendTo(log.file, bytes);
    log.length += bytes.length;
    log.hash?.update(bytes);
    return offset;
  }

  /** Appends the bytes of each stream in one write, then the timing of all in another. */
  async function appendAll(chunks: readonly CapturedChunk[]): Promise<void> {
    const offsets = new Map<CapturedStream, number>();
    for (const stream of new Set(chunks.map((chunk) => chunk.stream))) {
      const parts = chunks.filter((chunk) => chunk.stream === stream).map((chunk) => chunk.bytes);
      offsets.set(stream, await append(stream, parts));
    }
    let lines = '';
    for (const { stream, bytes, ms } of chunks) {
      const offset = offsets.get(stream) ?? 0;
      lines += `${JSON.stringify({ ms, stream, offset, bytes: bytes.length })}\n`;
      offsets.set(stream, offset + bytes.length);
    }
    await appendTo(timing, lines);
  }

  function enqueue(step: () => Promise<void>): Promise<void> {
    lastWrite = lastWrite.then(step);
    return lastWrite;
  }

  return {
    /** Records bytes in order of arrival, with one write per file; resolves once they are in the files. */
    write: async (chunks: readonly CapturedChunk[]) =>
      chunks.length === 0 ? lastWrite : enqueue(async () => appendAll(chunks)),
    /** Records the agent's initial input. It has no timing, because it is not part of a conversation. */
    writeInput: async (bytes: Uint8Array) =>
      enqueue(async () => {
        await append('stdin', [bytes]);
      }),
    async close() {
      await lastWrite.catch(() => undefined);
      await Promise.all([timing, ...[...files.values()].map((log) => log.file)].map(async (file) => file.close()));
    },
    /** Digests of the written files, final after `close`. Files started by an earlier process are not included. */
    digests: (): readonly StreamDigest[] =>
      [...files].flatMap(([stream, { length: bytes, hash }]) =>
        hash === null ? [] : [{ attempt, stream, bytes, sha256: hash.copy().digest('hex') }],
      ),
  };
}

/** Writes an attempt's meta file: when it starts, and again when it has ended. */
export async function writeAttemptMeta(folder: WritableRunFolder, attempt: number, meta: AttemptMeta): Promise<void> {
  await writeJson(folder, folder.attemptPath('meta', attempt), meta);
}

export async function writeFsDiff(folder: WritableRunFolder, attempt: number, diff: FsDiff): Promise<void> {
  await writeJson(folder, folder.attemptPath('fsDiff', attempt), diff);
}

/** Does not sync to disk, like a run's logs: after a power failure the store still has its outcome. */
async function writeJson({ trustedRoot }: WritableRunFolder, path: string, value: object): Promise<void> {
  await replaceFile(path, `${JSON.stringify(value, null, 2)}\n`, { trustedRoot, isDurable: false });
}

/** Enough for the paths of a hundred thousand files. */
const MAX_FS_DIFF_BYTES = 16 * 1024 * 1024;

export async function readFsDiff(
  folder: RunFolder,
  attempt: number,
  warn: (warning: RunFolderWarning) => void,
): Promise<FsDiff | undefined> {
  const path = join(folder.place, getAttemptFileName('fsDiff', attempt));
  const text = await readSmallFile(path, MAX_FS_DIFF_BYTES, async () => folder.openAttempt('fsDiff', attempt));
  if (text === undefined) return undefined;
  const value = parseJson(text);
  if (!isRecord(value)) {
    warn({
      code: 'FS_DIFF_IGNORED',
      attempt,
      message: `"${path}" is not a JSON object: the files changed in attempt ${attempt} are unknown.`,
    });
    return undefined;
  }
  const readPaths = (key: keyof FsDiff): string[] => get.array(value, key).filter(isArtifactPath);
  return { created: readPaths('created'), modified: readPaths('modified'), deleted: readPaths('deleted') };
}

/** Every folder above a file is opened, and a worker could send paths of thousands. */
const MAX_DEPTH = 100;

/** Whether a path is below the working folder and outside `.audit`, which only Sluice writes. */
export function isArtifactPath(path: unknown): path is string {
  if (typeof path !== 'string' || path === '' || path.includes('\0')) return false;
  if (path.startsWith('/') || path.startsWith('\\') || /^[A-Za-z]:/.test(path)) return false;
  const parts = path.split(/[/\\]/);
  return parts.length <= MAX_DEPTH && !parts.includes('..') && !parts.includes(AUDIT_FOLDER);
}

/** Whether a path may be restored in a working folder. Snapshots exclude `.git`, so nothing may be written there either. */
export function isWorkPath(path: unknown): boolean {
  return isArtifactPath(path) && !path.split(/[/\\]/).includes('.git');
}
