import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { isSluiceError } from '../base/index.js';
import { openForReading } from '../files/index.js';
import type { TrustedRoot, ReadableFile } from '../base/index.js';
import { AUDIT_FOLDER, RUN_LOGS, getAttemptFileName } from './file-names.js';
import type { AttemptFile } from './file-names.js';
import { openRunFolder } from './open-run-folder.js';

/** A file of a growing run, as of when it was listed. */
export interface AuditFile {
  /** The path relative to the run folder, with slashes. */
  readonly path: string;
  /** Distinguishes the file from a later file with the same name. */
  readonly id: string;
  readonly size: number;
  /** Returns undefined if the file was deleted or replaced. */
  open(): Promise<ReadableFile | undefined>;
}

/** In write order: bytes come before their timing. */
const ATTEMPT_FILES: readonly AttemptFile[] = ['meta', 'stdin', 'stdout', 'stderr', 'pty', 'fsDiff', 'timing'];
const LOGS = ['rasp', 'fcmp', 'diagnostics'] as const;

/**
 * Lists the files that a run has recorded so far, in write order. Sizes are read in reverse order, so the bytes of
 * every listed event are within the listed sizes, and a copy looks like an interrupted run.
 *
 * @example
 * const files = await listAuditFiles('/data/runs/01J…')
 */
export async function listAuditFiles(dir: string, root: TrustedRoot = {}): Promise<readonly AuditFile[]> {
  const folder = await openRunFolder(dir, root);
  const names = [
    ...(await folder.attempts()).flatMap((attempt) => ATTEMPT_FILES.map((file) => getAttemptFileName(file, attempt))),
    ...LOGS.map((log) => RUN_LOGS[log]),
  ];
  const files: AuditFile[] = [];
  for (const name of names.toReversed()) {
    const path = join(folder.place, name);
    const stats = await lstat(path, { bigint: true }).catch(() => undefined);
    if (stats?.isFile() !== true) continue;
    const id = String(stats.ino);
    files.push({
      path: `${AUDIT_FOLDER}/${name}`,
      id,
      size: Number(stats.size),
      open: async () => openIfSame(path, id, root),
    });
  }
  return files.toReversed();
}

async function openIfSame(path: string, id: string, root: TrustedRoot): Promise<ReadableFile | undefined> {
  const handle = await openForReading(path, root).catch((error: unknown) => {
    if (isSluiceError(error)) return undefined;
    throw error;
  });
  if (handle === undefined) return undefined;
  const { ino } = await handle.stat({ bigint: true });
  if (String(ino) === id) return handle;
  await handle.close();
  return undefined;
}
