import { createHash } from 'node:crypto';
import { lstat, readdir, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { getErrorCode, getErrorMessage } from '../../base/index.js';
import type { FsDiff } from '../../events/index.js';
import { beginReplacement, makeFolder, openForReading } from '../../files/index.js';
import { isArtifactPath } from '../../run-folder/index.js';
import { makeFoldersInside } from '../workspace/make-folders.js';
import type { CachedFile } from './result-cache.js';

/** Per-result file limits. */
const MAX_RESULT_BYTES = 64 * 1024 * 1024;
const MAX_RESULT_FILES = 1000;

/** Limits on all stored results; the least recently used is evicted first. */
const STORE_LIMITS = { files: 20_000, bytes: 1024 * 1024 * 1024 };

/** The files of a run to store. */
export interface FilesToStore {
  readonly workdir: string;
  readonly artifacts: FsDiff;
  /** Files whose content before the run is part of the key. */
  readonly inputFiles: readonly string[];
  readonly hasSecret: (content: Uint8Array) => boolean;
}

/**
 * Stores the files a run has written, each under its content hash, for a cached result to restore; if that is
 * impossible, returns the reason. A modified file must be an input file, which is part of the key; otherwise restoring
 * it could overwrite a different version.
 */
export async function storeFiles(
  store: string,
  { workdir, artifacts, inputFiles, hasSecret }: FilesToStore,
  limits = STORE_LIMITS,
): Promise<{ readonly files: readonly CachedFile[] } | { readonly reason: string }> {
  const { created, modified, deleted } = artifacts;
  const inputs = new Set(inputFiles.map((path) => posix.normalize(path)));
  const unknown = modified.find((path) => !inputs.has(path));
  if (deleted[0] !== undefined) return { reason: `the run deleted ${deleted[0]}` };
  if (unknown !== undefined) return { reason: `the run modified ${unknown}, which is not one of its input_files` };
  const changes = [
    ...created.map((path) => ({ path, change: 'created' as const })),
    ...modified.map((path) => ({ path, change: 'modified' as const })),
  ];
  if (changes.length > MAX_RESULT_FILES) return { reason: `the run wrote more than ${MAX_RESULT_FILES} files` };
  const files: CachedFile[] = [];
  let remainingBytes = MAX_RESULT_BYTES;
  for (const { path, change } of changes) {
    if (!isRestorable(path))
      return { reason: `${path} cannot be restored: it is outside the working folder or in .git` };
    let content: Content | 'missing' | 'too large';
    try {
      content = await readContent(join(workdir, path), remainingBytes);
    } catch (error) {
      return { reason: getErrorMessage(error).replace(/\.$/, '') };
    }
    if (content === 'too large') return { reason: `the run wrote more than ${MAX_RESULT_BYTES} bytes` };
    if (content === 'missing') return { reason: `${path} no longer exists` };
    const { bytes, executable } = content;
    if (hasSecret(bytes)) return { reason: `${path} contains a secret` };
    remainingBytes -= bytes.length;
    const sha256 = hashBytes(bytes);
    await makeFolder(store);
    await writeContent(join(store, sha256), bytes, () => 0o600);
    files.push({ path, change, sha256, executable });
  }
  if (files.length > 0) await evictOldest(store, limits);
  return { files };
}

/**
 * Writes a cached result's files to a working folder. Returns false, without writing anything, if a stored file is
 * missing or a file created by the run already exists with different content.
 */
export async function restoreFiles(store: string, workdir: string, files: readonly CachedFile[]): Promise<boolean> {
  const pending: { readonly file: CachedFile; readonly bytes: Buffer }[] = [];
  let remainingBytes = MAX_RESULT_BYTES;
  for (const file of files) {
    if (!isRestorable(file.path) || !/^[0-9a-f]{64}$/.test(file.sha256)) return false;
    const source = join(store, file.sha256);
    const content = await readContent(source, remainingBytes).catch(() => 'missing' as const);
    if (typeof content === 'string') return false;
    const { bytes } = content;
    if (hashBytes(bytes) !== file.sha256) {
      await rm(source, { force: true });
      return false;
    }
    remainingBytes -= bytes.length;
    const existing = await findContent(join(workdir, file.path), bytes.length);
    if (existing !== 'missing' && file.change === 'created' && !isSame(existing, bytes)) return false;
    if (existing === 'missing' || !isSame(existing, bytes)) pending.push({ file, bytes });
    await utimes(source, new Date(), new Date()).catch(() => undefined);
  }
  try {
    for (const { file } of pending) await makeFoldersInside(workdir, dirname(join(workdir, file.path)));
  } catch {
    // A link or a file is in the place of a folder.
    return false;
  }
  for (const { file, bytes } of pending) {
    const path = join(workdir, file.path);
    await writeContent(path, bytes, file.executable ? addExecuteBits : undefined);
  }
  return true;
}

interface Content {
  readonly bytes: Buffer;
  readonly executable: boolean;
}

/** Whether a path may be restored. Snapshots of a working folder exclude `.git`, so nothing may be written there either. */
function isRestorable(path: string): boolean {
  return isArtifactPath(path) && !path.split(/[/\\]/).includes('.git');
}

/** Reads a regular file; throws if it is a link or anything else. */
async function readContent(path: string, maxBytes: number): Promise<Content | 'missing' | 'too large'> {
  const handle = await openForReading(path);
  if (handle === undefined) return 'missing';
  try {
    const { size, mode } = await handle.stat();
    if (size > maxBytes) return 'too large';
    const bytes = Buffer.alloc(size);
    let length = 0;
    while (length < size) {
      const { bytesRead } = await handle.read(bytes, length, size - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return { bytes: bytes.subarray(0, length), executable: (mode & 0o100) !== 0 };
  } finally {
    await handle.close();
  }
}

/** Reads a file in the working folder; anything but a regular file of this length counts as different content. */
async function findContent(path: string, length: number): Promise<Content | 'missing' | 'other'> {
  try {
    if ((await lstat(path)).size !== length) return 'other';
    const content = await readContent(path, length);
    return content === 'too large' ? 'other' : content;
  } catch (error) {
    return getErrorCode(error) === 'ENOENT' ? 'missing' : 'other';
  }
}

function isSame(found: Content | 'other', bytes: Buffer): boolean {
  return found !== 'other' && found.bytes.equals(bytes);
}

/** Adds execute permission wherever there is read permission. */
function addExecuteBits(mode: number): number {
  return mode | ((mode & 0o444) >> 2);
}

async function writeContent(path: string, bytes: Buffer, changeMode?: (mode: number) => number): Promise<void> {
  const replacement = await beginReplacement(path);
  try {
    await replacement.file.writeFile(bytes);
    if (changeMode !== undefined)
      await replacement.file.chmod(changeMode((await replacement.file.stat()).mode & 0o777));
    await replacement.commit();
  } finally {
    await replacement.discard();
  }
}

function hashBytes(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A temporary file older than this was left by a crash. */
const LEFTOVER_MS = 60 * 60 * 1000;

async function evictOldest(store: string, limits: typeof STORE_LIMITS): Promise<void> {
  const contents: { readonly path: string; readonly size: number; readonly usedAt: number }[] = [];
  for (const name of await readdir(store)) {
    const path = join(store, name);
    const stats = await stat(path).catch(() => undefined);
    if (stats === undefined) continue;
    if (!name.endsWith('.tmp')) contents.push({ path, size: stats.size, usedAt: stats.mtimeMs });
    else if (Date.now() - stats.mtimeMs > LEFTOVER_MS) await rm(path, { force: true });
  }
  contents.sort((one, other) => other.usedAt - one.usedAt);
  let bytes = 0;
  for (const [index, { path, size }] of contents.entries()) {
    bytes += size;
    if (index >= limits.files || bytes > limits.bytes) await rm(path, { force: true });
  }
}
