import { link, rename, rm, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { crc32, deflateRaw } from 'node:zlib';
import { getErrorCode } from '../../base/index.js';
import {
  isPresent,
  makeFolderBelow,
  openForReading,
  openNew,
  readChunks,
  readSpan,
  syncFolder,
} from '../../files/index.js';
import { removeRunFolder } from '../remove-run-folder.js';
import type { ReadableFile } from '../../base/index.js';
import { PACKED_FOLDER, getPackedRunPath, getRunFolderPath } from '../run-place.js';
import { RunFolderError } from '../run-folder-error.js';
import { walkRunFolder } from '../run-files.js';
import type { RunFile } from '../run-files.js';
import { SMALL_FILE, openPackedFiles } from './open-packed-files.js';
import { DEFLATED, STORED, encodeDirectory, encodeLocalHeader } from './zip-format.js';
import type { ZipEntry } from './zip-format.js';

/** The outcome of packing: packed, or left unchanged because the folder has too many files or is too large. */
export type Packing = 'packed' | 'too_large' | 'missing';

/** Options for packing a run. */
export interface PackOptions {
  /** Called before each step; a test stops there. */
  readonly onStep?: (step: PackStep) => void;
  /** Files in addition to those of the folder; one with a name that the folder has is left out. */
  readonly more?: () => AsyncIterable<RunFile>;
  /** Called when the packed file is complete, before it gets its name. */
  readonly beforeName?: () => Promise<void>;
}

/** The steps of packing, in their order. After `name` the packed file is used, and the folder is obsolete. */
export const PACK_STEPS = [
  'write',
  'sync',
  'name',
  'sync_folder',
  'remove_temporary',
  'remove_folder',
  'done',
] as const;
type PackStep = (typeof PACK_STEPS)[number];

/** Packed runs are written here before they get their name; no run has a shard of this name. */
export const TEMPORARY_FOLDER = 'tmp';

/** A run that is larger stays a folder. */
const MAX_BYTES = 64 * 1024 ** 3;
const MAX_FILES = 10_000;

let made = 0;

/**
 * Replaces the folder of an ended run by one packed file. The folder is removed only after the file is complete, on the disk
 * and under its name; a crash at any point leaves the folder, the file, or both, and packing again finishes the work.
 * Several processes may pack the same run: the first file that gets the name stays.
 *
 * @example
 * await packRunFolder('/data', '01J…') // 'packed'
 */
export async function packRunFolder(data: string, runId: string, options: PackOptions = {}): Promise<Packing> {
  const { onStep = () => undefined } = options;
  const folder = getRunFolderPath(data, runId);
  const packed = getPackedRunPath(data, runId);
  if (!(await isPresent(folder))) return (await isPresent(packed)) ? 'packed' : 'missing';
  if (!(await isPresent(packed))) {
    const files = await listFiles(data, folder, options);
    if (files === undefined) return 'too_large';
    const temporary = await placeTemporary(data, runId);
    await makeFolderBelow(dirname(packed), data);
    try {
      onStep('write');
      await writePacked(temporary, runId, files, onStep);
      await options.beforeName?.();
      await nameOnce(temporary, packed, onStep);
      onStep('remove_temporary');
    } finally {
      await rm(temporary, { force: true });
    }
  }
  // Also a file that an earlier process left: the folder goes only if the run can be read without it.
  await openPackedFiles(async () => openForReading(packed, { below: data }), packed);
  onStep('remove_folder');
  await removeRunFolder(data, runId);
  onStep('done');
  return 'packed';
}

async function placeTemporary(data: string, runId: string): Promise<string> {
  const folder = join(data, PACKED_FOLDER, TEMPORARY_FOLDER);
  await makeFolderBelow(folder, data);
  made += 1;
  return join(folder, `${runId}.${process.pid}.${Date.now()}.${made}.tmp`);
}

/** The files of a run folder; undefined if they are too many or too large. */
async function listFiles(data: string, folder: string, { more }: PackOptions): Promise<readonly RunFile[] | undefined> {
  const files: RunFile[] = [];
  const paths = new Set<string>();
  let bytes = 0;
  let isCut = false;
  const add = async (found: AsyncIterable<RunFile>): Promise<boolean> => {
    for await (const file of found) {
      if (paths.has(file.path)) continue;
      paths.add(file.path);
      files.push(file);
      bytes += file.size;
      if (files.length > MAX_FILES || bytes > MAX_BYTES) return false;
    }
    return !isCut;
  };
  const fits = await add(
    walkRunFolder(folder, {
      below: data,
      onLimit: () => {
        isCut = true;
      },
    }),
  );
  if (!fits) return undefined;
  if (more !== undefined && !(await add(more()))) return undefined;
  return files;
}

async function writePacked(
  path: string,
  runId: string,
  files: readonly RunFile[],
  onStep: (step: PackStep) => void,
): Promise<void> {
  const target = await openNew(path, 0o600);
  try {
    const entries: ZipEntry[] = [];
    let offset = 0;
    for (const file of files) {
      const source = await file.open();
      // Deleted, or replaced by a link, since it was listed.
      if (source === undefined) continue;
      try {
        const entry = await addFile(target, source, { ...file, path: `${runId}/${file.path}`, offset });
        entries.push(entry);
        offset = entry.offset + encodeLocalHeader(entry).length + entry.packed;
      } finally {
        await source.close();
      }
    }
    await writeAt(target, encodeDirectory(entries, offset), offset);
    onStep('sync');
    await target.sync();
  } finally {
    await target.close();
  }
}

interface Added {
  readonly path: string;
  readonly mtimeMs: number;
  readonly offset: number;
}

async function addFile(target: FileHandle, source: ReadableFile, { path, mtimeMs, offset }: Added): Promise<ZipEntry> {
  const { size } = await source.stat();
  const about = { path, mtimeMs, offset, size };
  if (size <= SMALL_FILE) {
    const content = await readSpan(source, 0, size);
    if (content.length !== size) throw changed(path);
    const deflated = await promisify(deflateRaw)(content);
    const [method, data] = deflated.length < size ? ([DEFLATED, deflated] as const) : ([STORED, content] as const);
    const entry = { ...about, method, crc: crc32(content), packed: data.length };
    await writeAt(target, Buffer.concat([encodeLocalHeader(entry), data]), offset);
    return entry;
  }
  const draft = { ...about, method: STORED, crc: 0, packed: size } as const;
  const start = offset + encodeLocalHeader(draft).length;
  let crc = 0;
  let at = start;
  for await (const chunk of readChunks(source, { to: size })) {
    crc = crc32(chunk, crc);
    await writeAt(target, chunk, at);
    at += chunk.length;
  }
  if (at - start !== size) throw changed(path);
  // Its checksum is known only now.
  const entry = { ...draft, crc };
  await writeAt(target, encodeLocalHeader(entry), offset);
  return entry;
}

async function writeAt(target: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await target.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

/** Gives the file its name unless another process was first: a link, unlike a rename, never replaces a file. */
async function nameOnce(temporary: string, packed: string, onStep: (step: PackStep) => void): Promise<void> {
  onStep('name');
  try {
    await link(temporary, packed);
  } catch (error) {
    const code = getErrorCode(error);
    if (code === 'EEXIST') return;
    // A file system without links.
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS') throw error;
    if (!(await isPresent(packed))) await rename(temporary, packed);
  }
  onStep('sync_folder');
  // The folder of this shard may be new as well.
  for (const folder of [dirname(packed), dirname(dirname(packed))]) await syncFolder(folder);
}

function changed(path: string): RunFolderError {
  const message = `"${path}" changed while its run was being packed. The folder was kept; packing will be retried.`;
  return new RunFolderError('RUN_FOLDER_CHANGED', message);
}

/** Removes a packed run; true if there was one. */
export async function removePackedRun(data: string, runId: string): Promise<boolean> {
  try {
    await unlink(getPackedRunPath(data, runId));
    return true;
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
}
