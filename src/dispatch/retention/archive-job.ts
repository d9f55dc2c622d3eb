import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Archive } from '../../archive/index.js';
import { makeFolder, parseJson, replaceFile } from '../../files/index.js';
import { PACKED_FOLDER } from '../../run-folder/index.js';
import type { Retention } from '../../store/index.js';
import type { BackgroundJob } from '../run-by-one-process.js';

/** Options for removing archived runs. */
export interface ArchiveJobOptions {
  readonly store: Pick<Retention, 'listPurgedRuns'>;
  readonly archive: Pick<Archive, 'location' | 'remove'>;
  /** The data folder, in which the progress is recorded. */
  readonly data: string;
  readonly clock?: () => number;
}

const EVERY_MS = 60_000;
const PAGE_LENGTH = 100;
const CONCURRENCY = 4;
/** A run may become visible after the time with which it is marked: its transaction commits later, and clocks differ. */
const OVERLAP_MS = 120_000;

/**
 * Removes purged runs from the archive; one process does it for all. Its progress is recorded in a file, so that no run is
 * missed after a restart or while the archive is down. Removing a run twice is harmless.
 */
export function createArchiveJob({ store, archive, data, clock = Date.now }: ArchiveJobOptions): BackgroundJob {
  const path = join(data, PACKED_FOLDER, 'forgotten.json');

  async function work(signal: AbortSignal): Promise<void> {
    const startedAt = clock();
    let { since, cursor } = readProgress(await readFile(path, 'utf8').catch(() => ''), archive.location);
    while (!signal.aborted) {
      const page = await store.listPurgedRuns({
        since,
        limit: PAGE_LENGTH,
        ...(cursor === null ? {} : { cursor }),
      });
      for (let at = 0; at < page.items.length; at += CONCURRENCY) {
        await Promise.all(page.items.slice(at, at + CONCURRENCY).map(async (id) => archive.remove(id)));
      }
      cursor = page.next_cursor;
      if (cursor === null) since = Math.max(since, startedAt - OVERLAP_MS);
      await makeFolder(join(data, PACKED_FOLDER));
      await replaceFile(path, JSON.stringify({ place: archive.location, since, cursor }));
      if (cursor === null) return;
    }
  }

  return { name: 'archive retention', everyMs: EVERY_MS, work };
}

interface Progress {
  readonly since: number;
  readonly cursor: string | null;
}

/** Reads the progress; that of another archive is ignored, because nothing has been removed from this one yet. */
function readProgress(text: string, location: string): Progress {
  const value = parseJson(text);
  const isOurs = typeof value === 'object' && value !== null && 'place' in value && value.place === location;
  if (!isOurs || !('since' in value && 'cursor' in value)) return { since: 0, cursor: null };
  const { since, cursor } = value;
  return {
    since: typeof since === 'number' && Number.isSafeInteger(since) ? since : 0,
    cursor: typeof cursor === 'string' ? cursor : null,
  };
}
