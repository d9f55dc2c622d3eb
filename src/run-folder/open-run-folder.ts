import { lstat, opendir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeFolder, parseJson, readSmallFile, requireOwnFolder } from '../files/index.js';
import { SluiceError } from '../base/index.js';
import { readAttemptMeta } from './attempt/attempt-meta.js';
import type { AttemptMeta } from './attempt/attempt-meta.js';
import { RunFolderError } from './run-folder-error.js';
import type { RunFolderWarning } from './run-folder-error.js';
import { AUDIT_FOLDER, attemptFileName, parseAttempt, RUN_LOGS } from './file-names.js';
import type { AttemptFile, RunLog } from './file-names.js';

/** An existing run folder, and where its files are. */
export interface RunFolder {
  /** The folder that holds the files: `.audit` in the run folder, or the folder itself. */
  readonly auditFolder: string;
  /** The run's name where no meta names one: the name of the folder. */
  readonly name: string;
  attemptPath(file: AttemptFile, attempt: number): string;
  logPath(log: RunLog): string;
  /** The attempts that left output or a meta, from the first. */
  attempts(): Promise<number[]>;
  /** The meta of an attempt, without invalid fields; empty if it is missing. */
  meta(attempt: number, warn?: (warning: RunFolderWarning) => void): Promise<AttemptMeta>;
}

/** A meta lists prompts and requests; a larger file is not a meta. */
const META_BYTES = 16 * 1024 * 1024;

/**
 * Finds the files of a run: in `.audit` of the folder, or in the folder itself.
 *
 * @example
 * const folder = await openRunFolder('runs/01J…')
 * await folder.attempts() // [1, 2]
 */
export async function openRunFolder(dir: string): Promise<RunFolder> {
  const root = await findFolder(dir);
  const auditFolder = await findAuditFolder(root);
  return {
    auditFolder,
    name: basename(root) === AUDIT_FOLDER ? basename(dirname(root)) : basename(root),
    attemptPath: (file, attempt) => join(auditFolder, attemptFileName(file, attempt)),
    logPath: (log) => join(auditFolder, RUN_LOGS[log]),
    attempts: async () => listAttempts(auditFolder),
    meta: async (attempt, warn) => {
      const path = join(auditFolder, attemptFileName('meta', attempt));
      const text = await readSmallFile(path, META_BYTES);
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

/**
 * Makes the folder of a new run, with an empty `.audit`, and opens it.
 *
 * @example
 * const folder = await createRunFolder('/srv/sluice/runs/01JC…')
 */
export async function createRunFolder(dir: string): Promise<RunFolder> {
  await makeFolder(join(dir, AUDIT_FOLDER));
  return openRunFolder(dir);
}

async function findFolder(dir: string): Promise<string> {
  try {
    const root = await realpath(dir);
    if ((await stat(root)).isDirectory()) return root;
  } catch (error) {
    throw new RunFolderError('RUN_FOLDER_NOT_FOUND', `Cannot find the folder "${dir}". Give the folder of a run.`, {
      cause: error,
    });
  }
  throw new RunFolderError('RUN_FOLDER_NOT_FOUND', `"${dir}" is not a folder. Give the folder of a run.`);
}

async function findAuditFolder(root: string): Promise<string> {
  const inside = join(root, AUDIT_FOLDER);
  const found = await lstat(inside).catch(() => undefined);
  if (found === undefined) return root;
  await requireOwnFolder(inside);
  const isElsewhere = (await listAttempts(inside)).length === 0 && (await listAttempts(root)).length > 0;
  return isElsewhere ? root : inside;
}

async function listAttempts(auditFolder: string): Promise<number[]> {
  const attempts = new Set<number>();
  for await (const entry of await opendir(auditFolder)) {
    const attempt = parseAttempt(entry.name);
    if (attempt !== undefined) attempts.add(attempt);
  }
  return [...attempts].toSorted((a, b) => a - b);
}

/** A plain folder name: no separators, no `..`. */
const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** The path of a run's folder; throws `INVALID_RUN_ID` for an invalid id. */
export function runFolderPath(data: string, runId: string): string {
  if (!RUN_ID.test(runId)) {
    const message = `Invalid run id ${JSON.stringify(runId.slice(0, 128))}. Use letters, digits, dots, underscores and dashes.`;
    throw new SluiceError('INVALID_RUN_ID', message);
  }
  return join(data, 'runs', runId);
}
