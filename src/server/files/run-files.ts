import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { RUN_LOGS, attemptFileName, openRunFolder, isArtifactPath, readFsDiff } from '../../run-folder/index.js';
import type { AttemptFile, RunFolder } from '../../run-folder/index.js';
import { isSluiceError } from '../../base/index.js';
import { RESULT_FILES } from '../../orders/index.js';
import type { FsDiff } from '../../events/index.js';
import { NO_CHANGES, mergeFsDiffs } from '../../runs/index.js';
import type { RunRecord } from '../../records/index.js';

/** A file of the run folder that shows what happened. */
interface EvidenceFile {
  readonly name: string;
  readonly path: string;
  readonly size: number;
}

/** What a worker was given and what it wrote. */
const WORK_FILES = ['work_order.json', ...RESULT_FILES] as const;
const ATTEMPT_FILES: readonly AttemptFile[] = ['stdout', 'stderr', 'pty', 'stdin', 'meta', 'fsDiff', 'timing'];
/** The last attempts matter most. */
const MOST_ATTEMPTS = 20;

/**
 * The files of a run folder that a person needs to check a decision: known names and regular files only. None if the folder
 * is on another machine.
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
  const found = await Promise.all(named.map(async (file) => ({ ...file, size: await getSize(file.path) })));
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

async function getSize(path: string): Promise<number | undefined> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isFile() === true ? found.size : undefined;
}

/** A file that a run changed in its working folder. */
interface Artifact {
  readonly path: string;
  readonly change: keyof FsDiff;
}

/** The files a run changed, as recorded; while it is running, those of its attempts so far. */
export async function listArtifacts({ result }: RunRecord, folder: string): Promise<readonly Artifact[]> {
  const changes = result?.artifacts ?? (await readChanges(folder));
  return (['created', 'modified', 'deleted'] as const).flatMap((change) =>
    changes[change].filter(isArtifactPath).map((path) => ({ path, change })),
  );
}

async function readChanges(folder: string): Promise<FsDiff> {
  try {
    const opened = await openRunFolder(folder);
    let changes = NO_CHANGES;
    for (const attempt of await opened.attempts()) {
      const made = await readFsDiff(opened, attempt, () => undefined);
      if (made !== undefined) changes = mergeFsDiffs(changes, made);
    }
    return changes;
  } catch (error) {
    // The folder is on another machine, or holds something unexpected: nothing is known.
    if (isSluiceError(error)) return NO_CHANGES;
    throw error;
  }
}
