import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { getErrorCode } from '../../base/index.js';
import { PACKED_FOLDER, removePackedRun } from '../../run-folder/index.js';
import type { Upkeep } from '../../store/index.js';

/** Folders of packed runs that one sweep looks into: with millions of runs, all of them within some hours. */
const SHARDS_AT_ONCE = 16;
const NAMES_AT_ONCE = 500;
const SHARD = /^[0-9a-f]{3}$/u;

/**
 * Removes the packed files of runs that were forgotten. A process removes those that it forgets itself at once; this finds the
 * ones that other machines have marked, a few folders at a time.
 */
export function createPackedSweep(
  store: Pick<Upkeep, 'findForgottenRuns'>,
  data: string,
): { sweep(most: number): Promise<number> } {
  let last = '';
  return {
    async sweep(most) {
      const shards = (await list(join(data, PACKED_FOLDER))).filter((name) => SHARD.test(name)).toSorted();
      const rest = shards.filter((shard) => shard > last);
      let removed = 0;
      for (const shard of [...rest, ...shards].slice(0, Math.min(SHARDS_AT_ONCE, shards.length))) {
        const names = await list(join(data, PACKED_FOLDER, shard));
        const ids = names.flatMap((name) => (name.endsWith('.zip') ? [name.slice(0, -'.zip'.length)] : []));
        for (let at = 0; at < ids.length; at += NAMES_AT_ONCE) {
          for (const id of await store.findForgottenRuns(ids.slice(at, at + NAMES_AT_ONCE))) {
            // This folder comes first at the next sweep.
            if (removed >= most) return removed;
            if (await removePackedRun(data, id)) removed += 1;
          }
        }
        last = shard;
      }
      return removed;
    },
  };
}

async function list(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
