import { realpath } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import type { FsDiff } from '../../events/index.js';
import { PACKED_FOLDER } from '../../run-folder/index.js';
import type { RunWarning } from '../../records/index.js';
import { compareSnapshots, takeSnapshot } from './snapshot.js';

/** Finds what changed in a folder since its first snapshot. */
export interface ChangeTracker {
  findChanges(): Promise<{ readonly fsDiff: FsDiff; readonly warnings: readonly RunWarning[] }>;
}

/** Folders and files that Sluice creates in a data folder. They are never artifacts. */
export const SLUICE_FILES = [
  'runs',
  PACKED_FOLDER,
  'cache',
  'processes',
  'locks',
  'acp-sessions',
  'mirrors',
  'worktrees',
  'checks',
  'comments',
  'sluice.db',
  'sluice.db-wal',
  'sluice.db-shm',
];

/**
 * Takes the first snapshot of a working folder. The data folder can be inside it; Sluice's own files are not artifacts.
 */
export async function trackChanges(workdir: string, data: string): Promise<ChangeTracker> {
  const exclude = listSluiceFiles(workdir, await realpath(data));
  const before = await takeSnapshot(workdir, { exclude });
  return {
    async findChanges() {
      const after = await takeSnapshot(workdir, { exclude });
      const fsDiff = compareSnapshots(before, after);
      if (!before.truncated && !after.truncated) return { fsDiff, warnings: [] };
      const message = `"${workdir}" has too many files, or folders that are too deeply nested or cannot be read. Some artifacts might be missing.`;
      return { fsDiff, warnings: [{ code: 'ARTIFACTS_INCOMPLETE', message }] };
    },
  };
}

/** Returns the paths of Sluice's files relative to the working folder; empty if the data folder is elsewhere. */
function listSluiceFiles(workdir: string, data: string): readonly string[] {
  const path = relative(workdir, data).split(sep).join('/');
  if (path === '') return SLUICE_FILES;
  // Not every path that starts with two dots is outside: a folder name can start with them.
  return path === '..' || path.startsWith('../') ? [] : [path];
}
