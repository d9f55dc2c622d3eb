import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { RUN_LOGS, attemptFileName, openRunFolder } from '../../run-folder/index.js';
import type { AttemptFile, RunFolder } from '../../run-folder/index.js';
import { isSluiceError } from '../../base/index.js';
import { RESULT_FILES } from '../../orders/index.js';

/** A file that tells what happened in a run. */
export interface EvidenceFile {
  readonly name: string;
  readonly path: string;
  readonly size: number;
}

/** What a worker was given and what it left, in its own folder. */
const WORK_FILES = ['work_order.json', ...RESULT_FILES] as const;
const ATTEMPT_FILES: readonly AttemptFile[] = ['stdout', 'stderr', 'pty', 'stdin', 'meta', 'fsDiff', 'timing'];
/** The last ones tell most. */
const MOST_ATTEMPTS = 20;

/**
 * The files of a run folder by which a person can check what was decided: only those that Sluice knows, and plain files
 * only. None if the folder is on another machine.
 */
export async function listEvidence(folder: string): Promise<readonly EvidenceFile[]> {
  const opened = await openIfThere(folder);
  if (opened === undefined) return [];
  const attempts = (await opened.attempts()).slice(-MOST_ATTEMPTS);
  const inAudit = [
    ...attempts.flatMap((attempt) => ATTEMPT_FILES.map((file) => attemptFileName(file, attempt))),
    ...Object.values(RUN_LOGS),
  ];
  const named = [
    ...WORK_FILES.map((name) => ({ name, path: join(folder, name) })),
    ...inAudit.map((name) => ({ name, path: join(opened.auditFolder, name) })),
  ];
  const found = await Promise.all(named.map(async (file) => ({ ...file, size: await sizeOf(file.path) })));
  return found.flatMap(({ size, ...file }) => (size === undefined ? [] : [{ ...file, size }]));
}

async function openIfThere(folder: string): Promise<RunFolder | undefined> {
  try {
    return await openRunFolder(folder);
  } catch (error) {
    if (isSluiceError(error)) return undefined;
    throw error;
  }
}

async function sizeOf(path: string): Promise<number | undefined> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isFile() === true ? found.size : undefined;
}
