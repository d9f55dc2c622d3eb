import { opendirSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { getErrorCode, type TrustedRoot, type ReadableFile } from '../../base/index.js';
import {
  makeFolder,
  makeFolderBelow,
  openForReading,
  parseJson,
  readSmallFile,
  withFolder,
} from '../../base/files/index.js';
import { readAttemptMeta, type AttemptMeta } from './attempt/attempt-meta.js';
import { createNotFoundError, RunFolderError, type RunFolderWarning } from './run-folder-error.js';
import { AUDIT_FOLDER, getAttemptFileName, parseAttempt, RUN_LOGS } from './file-names.js';
import type { AttemptFile, RunLog } from './file-names.js';
import { openPackedFiles } from './packed/open-packed-files.js';
import { walkRunFolder, type RunFile } from './run-files.js';

/** The files of a run, in a folder or in a packed file. */
export interface RunFolder {
  /** The location of the files, for messages: `.audit` in the run folder, the folder itself, or the packed file. */
  readonly place: string;
  /** The run folder; undefined for a packed run. */
  readonly dir?: string;
  /** The folder's name, used as the run id if no meta file has one. */
  readonly name: string;
  /** Opens an attempt's file; returns undefined if it does not exist. */
  openAttempt(file: AttemptFile, attempt: number): Promise<ReadableFile | undefined>;
  openLog(log: RunLog): Promise<ReadableFile | undefined>;
  /** Opens a file directly in the run folder that the agent wrote, such as its result. */
  openWorkFile(name: string): Promise<ReadableFile | undefined>;
  /** All regular files. */
  files(): AsyncIterable<RunFile>;
  /** The numbers of the attempts that have output or a meta file, in ascending order. */
  attempts(): Promise<number[]>;
  /** The metadata of an attempt, without invalid fields; empty if its meta file is missing. */
  meta(attempt: number, warn?: (warning: RunFolderWarning) => void): Promise<AttemptMeta>;
}

export interface WritableRunFolder extends RunFolder {
  /** The folder below which no link is followed. */
  readonly trustedRoot: string;
  attemptPath(file: AttemptFile, attempt: number): string;
  logPath(log: RunLog): string;
}

/** The maximum size of a meta file, which can contain a long prompt. */
const MAX_META_BYTES = 16 * 1024 * 1024;

/**
 * Finds a run's files: in the folder's `.audit`, in the folder itself, or in a packed file. With `trustedRoot`, the
 * path must be a folder, and no link below `trustedRoot` is followed.
 *
 * @example
 * const folder = await openRunFolder('runs/01J…')
 * await folder.attempts() // [1, 2]
 */
export async function openRunFolder(path: string, root: TrustedRoot = {}): Promise<RunFolder> {
  const found = await openIfFolder(path, root);
  return typeof found === 'string' ? readPackedRun(async () => openForReading(found), found) : found;
}

/** Opens a run folder for writing. A packed run is rejected. */
export async function openWritableRunFolder(dir: string, root: TrustedRoot = {}): Promise<WritableRunFolder> {
  const found = await openIfFolder(dir, root);
  if (typeof found !== 'string') return found;
  // Any other file is reported as what it is: not a packed run.
  await readPackedRun(async () => openForReading(found), found);
  const message = `"${dir}" is a packed run, which is never changed. Copy it to a folder with sluice export.`;
  throw new RunFolderError('RUN_PACKED', message);
}

/** Opens a run folder; returns the real path of anything else. */
async function openIfFolder(path: string, { trustedRoot }: TrustedRoot): Promise<WritableRunFolder | string> {
  if (trustedRoot !== undefined) return openPlainFolder(resolve(path), resolve(trustedRoot));
  const root = await realpath(path).catch((error: unknown) => {
    throw createNotFoundError(path, error);
  });
  return (await stat(root)).isDirectory() ? openPlainFolder(root) : root;
}

/** Creates a new run's folder, with an empty `.audit`, and opens it. */
export async function createRunFolder(dir: string, { trustedRoot }: TrustedRoot = {}): Promise<WritableRunFolder> {
  if (trustedRoot === undefined) await makeFolder(join(dir, AUDIT_FOLDER));
  else {
    await makeFolder(trustedRoot);
    await makeFolderBelow(resolve(dir, AUDIT_FOLDER), resolve(trustedRoot));
  }
  return openWritableRunFolder(dir, { trustedRoot });
}

/** `trustedRoot` is a trusted parent folder; by default the run folder itself, because the caller chose it. */
async function openPlainFolder(root: string, trustedRoot = root): Promise<WritableRunFolder> {
  const auditFolder = await findAuditFolder(root, trustedRoot);
  const attemptPath: WritableRunFolder['attemptPath'] = (file, attempt) =>
    join(auditFolder, getAttemptFileName(file, attempt));
  const files: NamedFiles = {
    place: auditFolder,
    dir: root,
    name: basename(root) === AUDIT_FOLDER ? basename(dirname(root)) : basename(root),
    open: async (name) => openForReading(join(auditFolder, name), { trustedRoot }),
    openWorkFile: async (name) => openForReading(join(root, name), { trustedRoot }),
    files: () => walkRunFolder(root, { trustedRoot }),
    attempts: async () => listAttempts(auditFolder, trustedRoot),
  };
  return { ...toRunFolder(files), attemptPath, trustedRoot, logPath: (log) => join(auditFolder, RUN_LOGS[log]) };
}

/** Reads a run from a packed file, which is opened for each file in it; `place` is for messages. */
export async function readPackedRun(open: () => Promise<ReadableFile | undefined>, place: string): Promise<RunFolder> {
  const { root, files } = await openPackedFiles(open, place);
  return readRunFiles(files, { place, name: root ?? basename(place).replace(/\.zip$/u, '') });
}

export function readRunFiles(
  files: readonly RunFile[],
  { place, name }: { readonly place: string; readonly name: string },
): RunFolder {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const listAttemptsIn = (folder: string): number[] =>
    sortAttempts(files.flatMap(({ path }) => (path.startsWith(folder) ? [path.slice(folder.length)] : [])));
  const auditPrefix = `${AUDIT_FOLDER}/`;
  const isAtTop = listAttemptsIn(auditPrefix).length === 0 && listAttemptsIn('').length > 0;
  const audit = isAtTop ? '' : auditPrefix;
  return toRunFolder({
    place,
    name,
    open: async (file) => byPath.get(`${audit}${file}`)?.open(),
    openWorkFile: async (file) => byPath.get(file)?.open(),
    files: async function* list() {
      yield* files;
    },
    attempts: async () => listAttemptsIn(audit),
  });
}

/** The operations that differ between a folder and a packed file. */
interface NamedFiles extends Pick<RunFolder, 'place' | 'dir' | 'name' | 'openWorkFile' | 'files' | 'attempts'> {
  readonly open: (name: string) => Promise<ReadableFile | undefined>;
}

function toRunFolder({ open, ...named }: NamedFiles): RunFolder {
  /** Other tools write these beside `.audit`, and so could an agent: they are read only without a meta file. */
  const openAttempt: RunFolder['openAttempt'] = async (file, attempt) => {
    const name = getAttemptFileName(file, attempt);
    const found = await open(name);
    if (found !== undefined || (file !== 'meta' && file !== 'fsDiff')) return found;
    const meta = await open(getAttemptFileName('meta', attempt));
    await meta?.close();
    return meta === undefined ? named.openWorkFile(name) : undefined;
  };
  return {
    ...named,
    openAttempt,
    openLog: async (log) => open(RUN_LOGS[log]),
    meta: async (attempt, warn) => {
      const name = getAttemptFileName('meta', attempt);
      const path = join(named.place, name);
      const text = await readSmallFile(path, MAX_META_BYTES, async () => openAttempt('meta', attempt));
      if (text === undefined) return {};
      const { meta, ignored } = readAttemptMeta(parseJson(text));
      if (ignored.length > 0) {
        warn?.({
          code: 'META_IGNORED',
          attempt,
          message: `Ignored invalid fields in "${path}": ${ignored.join(', ')}.`,
        });
      }
      return meta;
    },
  };
}

async function findAuditFolder(root: string, trustedRoot: string): Promise<string> {
  const inside = join(root, AUDIT_FOLDER);
  const found = await listAttempts(inside, trustedRoot).catch((error: unknown) => {
    if (getErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (found !== undefined && found.length > 0) return inside;
  const atTop = await listAttempts(root, trustedRoot).catch((error: unknown) => {
    throw getErrorCode(error) === 'ENOENT' ? createNotFoundError(root, error) : error;
  });
  return found === undefined || atTop.length > 0 ? root : inside;
}

const MAX_SYNC_NAMES = 1000;

async function listAttempts(folder: string, trustedRoot: string): Promise<number[]> {
  const names: string[] = [];
  const work = async (place: string): Promise<void> => {
    const open = opendirSync(place);
    try {
      // A folder has few names. Only an agent that creates many makes it worth the detour through the thread pool.
      for (let count = 0; ; count += 1) {
        const entry = count < MAX_SYNC_NAMES ? open.readSync() : await open.read();
        if (entry === null) return;
        if (parseAttempt(entry.name) !== undefined) names.push(entry.name);
      }
    } finally {
      open.closeSync();
    }
  };
  await withFolder(folder, { trustedRoot }, { work });
  return sortAttempts(names);
}

function sortAttempts(names: readonly string[]): number[] {
  return [...new Set(names.flatMap((name) => parseAttempt(name) ?? []))].toSorted((a, b) => a - b);
}
