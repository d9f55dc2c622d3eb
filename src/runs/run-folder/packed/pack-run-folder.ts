import { link, rename, rm, unlink, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { crc32, deflateRaw } from 'node:zlib';
import { getErrorCode, isSluiceError, type ReadableFile } from '../../../base/index.js';
import {
  isPresent,
  makeFolderBelow,
  openForReading,
  openNew,
  readChunks,
  readSpan,
  syncFolder,
} from '../../../base/files/index.js';
import { removeRunFolder } from '../audit-files.js';
import { AUDIT_FOLDER, RUN_LOGS } from '../file-names.js';
import { openRunFolder } from '../open-run-folder.js';
import { canTranslate } from '../translate-run-folder.js';
import { PACKED_FOLDER, getPackedRunPath, getRunFolderPath } from '../run-place.js';
import { RunFolderError } from '../run-folder-error.js';
import { walkRunFolder, type RunFile } from '../run-files.js';
import { SMALL_FILE_BYTES, isPackedPath, openPackedFiles } from './open-packed-files.js';
import { DEFLATED, STORED, encodeDirectory, encodeLocalHeader, type ZipEntry } from './zip-format.js';

/** The outcome of packing: packed, left unchanged because the folder is too large or has too many files, or not found. */
export type Packing = 'packed' | 'too_large' | 'missing';

export interface PackOptions {
  /** Called before each step, for tests. */
  readonly onStep?: (step: PackStep) => void;
  /** Files besides those in the folder; one with an invalid path or a path in the folder is skipped. */
  readonly extraFiles?: () => AsyncIterable<RunFile>;
  /** Called when the packed file is complete, before it gets its name. */
  readonly beforeNaming?: () => Promise<void>;
}

/** The steps of packing, in order. After `name` the packed file is used, and the folder is obsolete. */
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

/** Packed runs are written here first. Shards have names of three hexadecimal digits. */
export const TEMPORARY_FOLDER = 'tmp';

const MAX_BYTES = 64 * 1024 ** 3;
const MAX_FILES = 10_000;

let temporaryFiles = 0;

/**
 * Replaces the folder of an ended run with one packed file, without the derived logs. The folder is removed only after the file is complete, on
 * disk and under its final name. A crash at any point leaves the folder, the file, or both, and packing again finishes
 * the work. Multiple processes can pack the same run: the first file to get the name is used.
 */
export async function packRunFolder(data: string, runId: string, options: PackOptions = {}): Promise<Packing> {
  const { onStep = () => undefined } = options;
  const folder = getRunFolderPath(data, runId);
  const packed = getPackedRunPath(data, runId);
  if (!(await isPresent(folder))) return (await isPresent(packed)) ? 'packed' : 'missing';
  if (!(await isPresent(packed))) {
    const files = await listFiles(data, folder, options);
    if (files === undefined) return 'too_large';
    const temporary = await prepareTemporaryPath(data, runId);
    await makeFolderBelow(dirname(packed), data);
    try {
      onStep('write');
      await writePacked(temporary, runId, files, onStep);
      await options.beforeNaming?.();
      await nameOnce(temporary, packed, onStep);
      onStep('remove_temporary');
    } finally {
      await rm(temporary, { force: true });
    }
  }
  // The file might be from an earlier process: the folder is removed only if the run can be read without it.
  await openPackedFiles(async () => openForReading(packed, { trustedRoot: data }), packed);
  onStep('remove_folder');
  await removeRunFolder(data, runId);
  onStep('done');
  return 'packed';
}

async function prepareTemporaryPath(data: string, runId: string): Promise<string> {
  const folder = join(data, PACKED_FOLDER, TEMPORARY_FOLDER);
  await makeFolderBelow(folder, data);
  temporaryFiles += 1;
  return join(folder, `${runId}.${process.pid}.${Date.now()}.${temporaryFiles}.tmp`);
}

/** Lists the files of a run to pack; undefined if too many or too large. Logs that can be rebuilt are left out. */
async function listFiles(
  data: string,
  folder: string,
  { extraFiles }: PackOptions,
): Promise<readonly RunFile[] | undefined> {
  const files: RunFile[] = [];
  const paths = new Set(await listDerived(folder, data));
  let bytes = 0;
  let isLimited = false;
  const onLimit = (): void => {
    isLimited = true;
  };
  async function* listAll(): AsyncGenerator<RunFile> {
    yield* walkRunFolder(folder, { trustedRoot: data, onLimit });
    if (!isLimited && extraFiles !== undefined) yield* extraFiles();
  }
  for await (const file of listAll()) {
    if (paths.has(file.path) || !isPackedPath(file.path)) continue;
    paths.add(file.path);
    files.push(file);
    bytes += file.size;
    if (files.length > MAX_FILES || bytes > MAX_BYTES) return undefined;
  }
  return isLimited ? undefined : files;
}

/** Lists the paths of a run's logs if they can be rebuilt. */
async function listDerived(path: string, trustedRoot: string): Promise<readonly string[]> {
  const folder = await openRunFolder(path, { trustedRoot }).catch((error: unknown) => {
    if (isSluiceError(error)) return undefined;
    throw error;
  });
  if (folder === undefined || !(await canTranslate(folder))) return [];
  return Object.values(RUN_LOGS).map((name) => `${AUDIT_FOLDER}/${name}`);
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

async function addFile(
  target: FileHandle,
  source: ReadableFile,
  { path, mtimeMs, offset }: Pick<ZipEntry, 'path' | 'mtimeMs' | 'offset'>,
): Promise<ZipEntry> {
  const { size } = await source.stat();
  const common = { path, mtimeMs, offset, size };
  if (size <= SMALL_FILE_BYTES) {
    const content = await readSpan(source, 0, size);
    if (content.length !== size) throw createChangedError(path);
    const deflated = await promisify(deflateRaw)(content);
    const [method, data] = deflated.length < size ? ([DEFLATED, deflated] as const) : ([STORED, content] as const);
    const entry = { ...common, method, crc: crc32(content), packed: data.length };
    await writeAt(target, Buffer.concat([encodeLocalHeader(entry), data]), offset);
    return entry;
  }
  const draft = { ...common, method: STORED, crc: 0, packed: size } as const;
  const start = offset + encodeLocalHeader(draft).length;
  let crc = 0;
  let at = start;
  for await (const chunk of readChunks(source, { to: size })) {
    crc = crc32(chunk, crc);
    await writeAt(target, chunk, at);
    at += chunk.length;
  }
  if (at - start !== size) throw createChangedError(path);
  // Written last, because the checksum is only known now.
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

/** Gives the file its final name unless another process did so first: a link, unlike a rename, never replaces a file. */
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
  // The shard's folder might be new as well.
  for (const folder of [dirname(packed), dirname(dirname(packed))]) await syncFolder(folder);
}

function createChangedError(path: string): RunFolderError {
  const message = `"${path}" changed while its run was being packed. The folder was kept; packing will be retried.`;
  return new RunFolderError('RUN_FOLDER_CHANGED', message);
}

export async function removePackedRun(data: string, runId: string): Promise<boolean> {
  try {
    await unlink(getPackedRunPath(data, runId));
    return true;
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
}
