import { isArtifactPath, openRunFolder, readFsDiff } from '../../run-folder/index.js';
import type { FsDiff } from '../../events/index.js';
import { isSluiceError } from '../../base/index.js';
import { NO_CHANGES, mergeFsDiffs } from '../../runs/index.js';
import type { RunRecord } from '../../records/index.js';

/** A file that a run has changed in its working folder. */
export interface Artifact {
  readonly path: string;
  readonly change: keyof FsDiff;
}

/** What a run has changed, as it was recorded; of one that has not ended, what its attempts so far have. */
export async function artifactsOf({ result }: RunRecord, folder: string): Promise<readonly Artifact[]> {
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
    // A folder that is elsewhere, or something in it that is no file of ours: nothing is known then.
    if (isSluiceError(error)) return NO_CHANGES;
    throw error;
  }
}
