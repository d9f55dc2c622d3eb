import { join } from 'node:path';
import { getErrorCode } from '../../../base/index.js';
import { chooseFolder, listNames } from '../../../base/files/index.js';
import { PACKED_FOLDER, removePackedRun, removeRunFolder } from '../../../runs/run-folder/index.js';
import type { Retention, Maintenance } from '../../../store/index.js';

/** Options for removing folders. */
export interface FolderSweepOptions {
  readonly store: Pick<Retention, 'listPurgedRuns'> & Pick<Maintenance, 'findRunsWithoutEvents'>;
  readonly data: string;
  readonly clock: () => number;
}

/** The number of names per store query, and of ids per result page. */
const NAMES_PER_QUERY = 500;
/** A run can become visible after its own timestamp: its transaction commits later, and clocks differ. */
const OVERLAP_MS = 120_000;

/**
 * Removes the folders and packed files of purged runs on this machine. The first sweep compares all of them with the store;
 * later sweeps only query which runs have been purged since. A folder whose run is not in the store belongs to something
 * else and is kept. If a run cannot be removed, the sweep throws the first error at its end, and the next sweep tries again.
 */
export function createFolderSweep({ store, data, clock }: FolderSweepOptions) {
  let since: number | undefined;
  let failures: unknown[] = [];
  const stopping = new AbortController();
  const { signal } = stopping;

  async function removeAll(ids: readonly string[]): Promise<number> {
    let removed = 0;
    for (const id of ids) {
      if (signal.aborted) break;
      try {
        if (await removeFiles(data, id)) removed += 1;
      } catch (error) {
        // A run that cannot be removed must not prevent the others from being removed.
        failures.push(error);
      }
    }
    return removed;
  }

  async function sweepListed(): Promise<number> {
    let removed = 0;
    for await (const ids of listRuns(data)) {
      if (signal.aborted) break;
      removed += await removeAll(await store.findRunsWithoutEvents(ids));
    }
    return removed;
  }

  async function sweepSince(from: number): Promise<number> {
    let removed = 0;
    let cursor: string | null | undefined;
    while (cursor !== null && !signal.aborted) {
      const page = await store.listPurgedRuns({
        since: from,
        limit: NAMES_PER_QUERY,
        ...(cursor === undefined ? {} : { cursor }),
      });
      removed += await removeAll(page.items);
      cursor = page.next_cursor;
    }
    return removed;
  }

  return {
    async sweep(): Promise<number> {
      const startedAt = clock();
      failures = [];
      const removed = since === undefined ? await sweepListed() : await sweepSince(since);
      if (failures.length > 0) throw failures[0];
      if (!signal.aborted) since = startedAt - OVERLAP_MS;
      return removed;
    },
    stop(): void {
      stopping.abort();
    },
  };
}

/** Removes a run's folder and packed file; returns false if neither exists. */
async function removeFiles(data: string, id: string): Promise<boolean> {
  try {
    const hasFolder = await removeRunFolder(data, id);
    return (await removePackedRun(data, id)) || hasFolder;
  } catch (error) {
    // Runs started by a library user can have ids that are not valid folder names.
    if (getErrorCode(error) === 'INVALID_RUN_ID') return false;
    throw error;
  }
}

/** Lists the ids of all runs that have a folder or a packed file here, in batches. */
async function* listRuns(data: string): AsyncGenerator<readonly string[]> {
  yield* listNames(join(data, 'runs'), NAMES_PER_QUERY, chooseFolder);
  const packed = join(data, PACKED_FOLDER);
  for await (const shards of listNames(packed, NAMES_PER_QUERY, ({ name }) => (SHARD.test(name) ? name : undefined))) {
    for (const shard of shards) {
      yield* listNames(join(packed, shard), NAMES_PER_QUERY, ({ name }) =>
        name.endsWith(PACKED_ENDING) ? name.slice(0, -PACKED_ENDING.length) : undefined,
      );
    }
  }
}

const SHARD = /^[0-9a-f]{3}$/u;
const PACKED_ENDING = '.zip';
