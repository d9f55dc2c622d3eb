import { opendir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { getErrorCode } from '../base/index.js';
import { makeFolder, makeFolderBelow, openForReading, parseJson, readSmallFile, withFolder } from '../files/index.js';
import type { Below, ReadableFile } from '../base/index.js';
import { readAttemptMeta } from './attempt/attempt-meta.js';
import type { AttemptMeta } from './attempt/attempt-meta.js';
import { RunFolderError } from './run-folder-error.js';
import type { RunFolderWarning } from './run-folder-error.js';
import { AUDIT_FOLDER, getAttemptFileName, parseAttempt, RUN_LOGS } from './file-names.js';
import type { AttemptFile, RunLog } from './file-names.js';
import { openPackedFiles } from './packed/open-packed-files.js';
import { walkRunFolder } from './run-files.js';
import type { RunFile } from './run-files.js';

/** The files of a run, in a folder or in a packed file. */
export interface RunFolder {
  /** Where the files are, for messages: `.audit` in the run folder, the folder itself, or the packed file. */
  readonly place: string;
  /** The run folder; undefined for a packed run. */
  readonly dir?: string;
  /** The run's name where no meta names one: the name of the folder. */
  readonly name: string;
  /** Opens a file of an attempt; undefined if it does not exist. */
  openAttempt(file: AttemptFile, attempt: number): Promise<ReadableFile | undefined>;
  openLog(log: RunLog): Promise<ReadableFile | undefined>;
  /** Opens a file of the worker at the top of the run folder, such as its result. */
  openWorkFile(name: string): Promise<ReadableFile | undefined>;
  /** All regular files. */
  files(): AsyncIterable<RunFile>;
  /** The attempts that left output or a meta, from the first. */
  attempts(): Promise<number[]>;
  /** The meta of an attempt, without invalid fields; empty if it is missing. */
  meta(attempt: number, warn?: (warning: RunFolderWarning) => void): Promise<AttemptMeta>;
}

/** A run folder that can be written to. */
export interface WritableRunFolder extends RunFolder {
  /** The folder below which no link is followed. */
  readonly below: string;
  attemptPath(file: AttemptFile, attempt: number): string;
  logPath(log: RunLog): string;
}

/** A meta lists prompts and requests; a larger file is not a meta. */
const META_BYTES = 16 * 1024 * 1024;

/**
 * Finds the files of a run: in `.audit` of the folder, in the folder itself, or in a packed file. With `below` it is a folder in the
 * data folder, and no link between the two is followed.
 *
 * @example
 * const folder = await openRunFolder('runs/01J…')
 * await folder.attempts() // [1, 2]
 */
export async function openRunFolder(path: string, { below }: Below = {}): Promise<RunFolder> {
  if (below !== undefined) return openPlainFolder(resolve(path), resolve(below));
  const root = await findRealPath(path);
  if ((await stat(root)).isDirectory()) return openPlainFolder(root);
  return readPackedRun(async () => openForReading(root), root);
}

/** The same for a run that is written to, which is never a packed one. */
export async function openWritableRunFolder(dir: string, { below }: Below = {}): Promise<WritableRunFolder> {
  if (below !== undefined) return openPlainFolder(resolve(dir), resolve(below));
  const root = await findRealPath(dir);
  if ((await stat(root)).isDirectory()) return openPlainFolder(root);
  const message = `"${dir}" is a packed run, which is never changed. Copy it to a folder with sluice export.`;
  throw new RunFolderError('RUN_PACKED', message);
}

/**
 * Makes the folder of a new run, with an empty `.audit`, and opens it.
 *
 * @example
 * const folder = await createRunFolder('/srv/sluice/runs/01JC…')
 */
export async function createRunFolder(dir: string, { below }: Below = {}): Promise<WritableRunFolder> {
  if (below === undefined) await makeFolder(join(dir, AUDIT_FOLDER));
  else {
    await makeFolder(below);
    await makeFolderBelow(resolve(dir, AUDIT_FOLDER), resolve(below));
  }
  return openWritableRunFolder(dir, { below });
}

/** `below` is the trusted parent folder; by default the run folder itself, because the caller named it. */
async function openPlainFolder(root: string, below = root): Promise<WritableRunFolder> {
  const auditFolder = await findAuditFolder(root, below);
  const attemptPath: WritableRunFolder['attemptPath'] = (file, attempt) =>
    join(auditFolder, getAttemptFileName(file, attempt));
  const files: NamedFiles = {
    place: auditFolder,
    dir: root,
    name: basename(root) === AUDIT_FOLDER ? basename(dirname(root)) : basename(root),
    open: async (name) => openForReading(join(auditFolder, name), { below }),
    openWorkFile: async (name) => openForReading(join(root, name), { below }),
    files: () => walkRunFolder(root, { below }),
    attempts: async () => listAttempts(auditFolder, below),
  };
  return { ...toRunFolder(files), attemptPath, below, logPath: (log) => join(auditFolder, RUN_LOGS[log]) };
}

/**
 * Reads a run from a packed file, wherever that is: each file of it is read from where `open` leads to.
 *
 * @example
 * const folder = await readPackedRun(async () => openForReading(path), path)
 */
export async function readPackedRun(open: () => Promise<ReadableFile | undefined>, place: string): Promise<RunFolder> {
  const { root, files } = await openPackedFiles(open, place);
  return readRunFiles(files, { place, name: root ?? basename(place).replace(/\.zip$/u, '') });
}

/** Reads a run from its files, wherever they are. */
export function readRunFiles(
  files: readonly RunFile[],
  { place, name }: { readonly place: string; readonly name: string },
): RunFolder {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const attemptsIn = (folder: string): number[] =>
    sortAttempts(files.flatMap(({ path }) => (path.startsWith(folder) ? [path.slice(folder.length)] : [])));
  const inside = `${AUDIT_FOLDER}/`;
  const isElsewhere = attemptsIn(inside).length === 0 && attemptsIn('').length > 0;
  const audit = isElsewhere ? '' : inside;
  return toRunFolder({
    place,
    name,
    open: async (file) => byPath.get(`${audit}${file}`)?.open(),
    openWorkFile: async (file) => byPath.get(file)?.open(),
    files: async function* list() {
      yield* files;
    },
    attempts: async () => attemptsIn(audit),
  });
}

/** The operations that differ between a folder and a packed file. */
interface NamedFiles extends Pick<RunFolder, 'place' | 'dir' | 'name' | 'openWorkFile' | 'files' | 'attempts'> {
  readonly open: (name: string) => Promise<ReadableFile | undefined>;
}

function toRunFolder({ open, ...named }: NamedFiles): RunFolder {
  return {
    ...named,
    openAttempt: async (file, attempt) => open(getAttemptFileName(file, attempt)),
    openLog: async (log) => open(RUN_LOGS[log]),
    meta: async (attempt, warn) => {
      const name = getAttemptFileName('meta', attempt);
      const path = join(named.place, name);
      const text = await readSmallFile(path, META_BYTES, async () => open(name));
      if (text === undefined) return {};
      const { meta, ignored } = readAttemptMeta(parseJson(text));
      if (ignored.length > 0) {
        warn?.({
          code: 'META_IGNORED',
          attempt,
          message: `Ignored invalid fields in ${path}: ${ignored.join(', ')}.`,
        });
      }
      return meta;
    },
  };
}

async function findRealPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    throw missing(path, error);
  }
}

function missing(path: string, cause: unknown): RunFolderError {
  const message = `Cannot find "${path}". Pass the folder of a run, or a packed run.`;
  return new RunFolderError('RUN_FOLDER_NOT_FOUND', message, { cause });
}

async function findAuditFolder(root: string, below: string): Promise<string> {
  const inside = join(root, AUDIT_FOLDER);
  const found = await listAttempts(inside, below).catch((error: unknown) => {
    if (getErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  const atTop = found !== undefined && found.length > 0 ? [] : await listTop(root, below);
  return found === undefined || (found.length === 0 && atTop.length > 0) ? root : inside;
}

async function listTop(root: string, below: string): Promise<number[]> {
  try {
    return await listAttempts(root, below);
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') throw missing(root, error);
    throw error;
  }
}

async function listAttempts(folder: string, below: string): Promise<number[]> {
  const names: string[] = [];
  const work = async (place: string): Promise<void> => {
    for await (const entry of await opendir(place)) if (parseAttempt(entry.name) !== undefined) names.push(entry.name);
  };
  await withFolder(folder, { below }, { work });
  return sortAttempts(names);
}

function sortAttempts(names: readonly string[]): number[] {
  return [...new Set(names.flatMap((name) => parseAttempt(name) ?? []))].toSorted((a, b) => a - b);
}
