import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { isSluiceError } from '../base/index.js';
import { openForReading } from '../files/index.js';
import type { Below, ReadableFile } from '../base/index.js';
import { AUDIT_FOLDER, RUN_LOGS, getAttemptFileName } from './file-names.js';
import type { AttemptFile } from './file-names.js';
import { openRunFolder } from './open-run-folder.js';

/** A file of a growing run, at the moment it was listed. */
export interface AuditFile {
  /** From the top of the run folder, with slashes. */
  readonly path: string;
  /** Differs from that of a file that takes its name later. */
  readonly id: string;
  readonly size: number;
  /** Undefined if it is gone, or another file has its name. */
  open(): Promise<ReadableFile | undefined>;
}

/** Bytes come before their timing, and both before the events that were read from them. */
const ATTEMPT_FILES: readonly AttemptFile[] = ['meta', 'stdin', 'stdout', 'stderr', 'pty', 'fsDiff', 'timing'];
const LOGS = ['rasp', 'fcmp', 'diagnostics'] as const;

/**
 * Lists what a run has recorded so far, in the order in which it is written. Sizes are taken in the opposite order, so that what
 * is listed of each event's bytes is at least what the event was read from: all of it together is a run that was cut off.
 *
 * @example
 * const files = await listAuditFiles('/data/runs/01J…')
 */
export async function listAuditFiles(dir: string, below: Below = {}): Promise<readonly AuditFile[]> {
  const folder = await openRunFolder(dir, below);
  const names = [
    ...(await folder.attempts()).flatMap((attempt) => ATTEMPT_FILES.map((file) => getAttemptFileName(file, attempt))),
    ...LOGS.map((log) => RUN_LOGS[log]),
  ];
  const files: AuditFile[] = [];
  for (const name of names.toReversed()) {
    const path = join(folder.place, name);
    const found = await lstat(path, { bigint: true }).catch(() => undefined);
    if (found?.isFile() !== true) continue;
    const id = String(found.ino);
    files.push({
      path: `${AUDIT_FOLDER}/${name}`,
      id,
      size: Number(found.size),
      open: async () => openIfSame(path, id, below),
    });
  }
  return files.toReversed();
}

async function openIfSame(path: string, id: string, below: Below): Promise<ReadableFile | undefined> {
  const handle = await openForReading(path, below).catch((error: unknown) => {
    if (isSluiceError(error)) return undefined;
    throw error;
  });
  if (handle === undefined) return undefined;
  const { ino } = await handle.stat({ bigint: true });
  if (String(ino) === id) return handle;
  await handle.close();
  return undefined;
}
