import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Archive } from '../../archive/index.js';
import { makeFolder, parseJson, replaceFile } from '../../files/index.js';
import { PACKED_FOLDER } from '../../run-folder/index.js';
import type { Forgetting } from '../../store/index.js';
import type { Duty } from '../run-by-one-process.js';

/** Options for removing archived runs. */
export interface ArchiveDutyOptions {
  readonly store: Pick<Forgetting, 'listForgottenRuns'>;
  readonly archive: Pick<Archive, 'place' | 'remove'>;
  /** Where is noted how far it has come. */
  readonly data: string;
  readonly clock?: () => number;
}

const EVERY_MS = 60_000;
const IDS_AT_ONCE = 100;
const AT_ONCE = 4;
/** A run is marked before its transaction is committed, by the clock of another process. */
const OVERLAP_MS = 120_000;

/**
 * Removes forgotten runs from the archive; one process does it for all. How far it has come is kept in a file, so that neither
 * a restart nor an archive that was down for a while leaves a run there. To remove a run twice is harmless.
 */
export function createArchiveDuty({ store, archive, data, clock = Date.now }: ArchiveDutyOptions): Duty {
  const path = join(data, PACKED_FOLDER, 'forgotten.json');

  async function work(signal: AbortSignal): Promise<void> {
    const began = clock();
    let { since, cursor } = readProgress(await readFile(path, 'utf8').catch(() => ''), archive.place);
    while (!signal.aborted) {
      const page = await store.listForgottenRuns({
        since,
        limit: IDS_AT_ONCE,
        ...(cursor === null ? {} : { cursor }),
      });
      for (let at = 0; at < page.items.length; at += AT_ONCE) {
        await Promise.all(page.items.slice(at, at + AT_ONCE).map(async (id) => archive.remove(id)));
      }
      cursor = page.next_cursor;
      if (cursor === null) since = Math.max(since, began - OVERLAP_MS);
      await makeFolder(join(data, PACKED_FOLDER));
      await replaceFile(path, JSON.stringify({ place: archive.place, since, cursor }));
      if (cursor === null) return;
    }
  }

  return { name: 'archive retention', everyMs: EVERY_MS, work };
}

interface Progress {
  readonly since: number;
  readonly cursor: string | null;
}

/** Of another archive nothing has been removed yet. */
function readProgress(text: string, place: string): Progress {
  const value = parseJson(text);
  const isOurs = typeof value === 'object' && value !== null && 'place' in value && value.place === place;
  if (!isOurs || !('since' in value && 'cursor' in value)) return { since: 0, cursor: null };
  const { since, cursor } = value;
  return {
    since: typeof since === 'number' && Number.isSafeInteger(since) ? since : 0,
    cursor: typeof cursor === 'string' ? cursor : null,
  };
}
