import { realpath } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import type { FsDiff } from '../../events/index.js';
import { PACKED_FOLDER } from '../../run-folder/index.js';
import type { RunWarning } from '../../records/index.js';
import { compareSnapshots, takeSnapshot } from './snapshot.js';

/** Compares a folder with its earlier state. */
export interface FolderWatch {
  /** Returns the changes since then. */
  difference(): Promise<{ readonly fsDiff: FsDiff; readonly warnings: readonly RunWarning[] }>;
}

/** Sluice's own folders in a data folder. */
const OWN_FOLDERS = ['runs', PACKED_FOLDER, 'cache', 'processes', 'locks'];

/** Records the content of a working folder. The data folder may be inside it; Sluice's own files are not artifacts. */
export async function watchFolder(workdir: string, data: string): Promise<FolderWatch> {
  const leaveOut = listOwnFolders(workdir, await realpath(data));
  const before = await takeSnapshot(workdir, { leaveOut });
  return {
    async difference() {
      const after = await takeSnapshot(workdir, { leaveOut });
      const fsDiff = compareSnapshots(before, after);
      if (!before.truncated && !after.truncated) return { fsDiff, warnings: [] };
      const message = `${workdir} has more files than Sluice compares, so artifacts may be missing.`;
      return { fsDiff, warnings: [{ code: 'ARTIFACTS_INCOMPLETE', message }] };
    },
  };
}

/** Relative to the working folder; none if the data folder is elsewhere. */
function listOwnFolders(workdir: string, data: string): readonly string[] {
  const path = relative(workdir, data).split(sep).join('/');
  if (path === '') return OWN_FOLDERS;
  // A name may begin with two dots and still be inside.
  return path === '..' || path.startsWith('../../') ? [] : [path];
}
