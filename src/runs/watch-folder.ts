import { realpath } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import type { FsDiff } from '../events/index.js';
import type { RunResult } from './run-result.js';
import { differenceOf } from './workspace/difference.js';
import { takeSnapshot } from './workspace/snapshot.js';

/** Knows what a folder looked like. */
export interface FolderWatch {
  /** What has changed since. */
  difference(): Promise<{ readonly fsDiff: FsDiff; readonly warnings: RunResult['warnings'] }>;
}

/** Sluice's own folders in a data folder. */
const OWN_FOLDERS = ['runs', 'cache', 'processes', 'locks'];

/** Takes down what a working folder holds. The data folder may lie in it; what Sluice writes is no artifact. */
export async function watchFolder(workdir: string, data: string): Promise<FolderWatch> {
  const own = ownFolders(workdir, await realpath(data));
  const ofOthers = (path: string): boolean => !own.some((folder) => path.startsWith(folder));
  const before = await takeSnapshot(workdir);
  return {
    async difference() {
      const after = await takeSnapshot(workdir);
      const { created, modified, deleted } = differenceOf(before, after);
      const fsDiff = {
        created: created.filter(ofOthers),
        modified: modified.filter(ofOthers),
        deleted: deleted.filter(ofOthers),
      };
      if (!before.truncated && !after.truncated) return { fsDiff, warnings: [] };
      const message = `${workdir} has more files than are looked at: artifacts may be missing.`;
      return { fsDiff, warnings: [{ code: 'ARTIFACTS_INCOMPLETE', message }] };
    },
  };
}

function ownFolders(workdir: string, data: string): string[] {
  const path = relative(workdir, data).split(sep).join('/');
  if (path === '') return OWN_FOLDERS.map((name) => `${name}/`);
  return path.startsWith('..') ? [] : [`${path}/`];
}
