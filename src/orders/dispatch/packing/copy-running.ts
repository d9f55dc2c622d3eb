import { join } from 'node:path';
import { getErrorCode, getErrorMessage } from '../../../base/index.js';
import type { Logger } from '../../../base/index.js';
import { ArchiveError } from '../../../runs/archive/index.js';
import type { Archive, GrowingCopy } from '../../../runs/archive/index.js';
import { chooseFolder, isPresent, listFirstNames } from '../../../base/files/index.js';
import type { RunStore } from '../../../store/ports/index.js';
import type { Maintenance } from '../../../store/index.js';
import { listAuditFiles, getPackedRunPath, getRunFolderPath } from '../../../runs/run-folder/index.js';

/** Options for copying and uploading. */
export interface UploadOptions {
  readonly archive: Archive;
  readonly store: Pick<Maintenance, 'findRunsWithoutEvents'> & Pick<RunStore, 'findRun'>;
  readonly data: string;
  readonly clock: () => number;
  readonly logger: Logger;
}

/** Copies of runs that are still growing. */
export interface RunningCopies {
  /** Continues to copy a run after its end, because it cannot be packed. */
  include(runId: string): void;
  /**
   * Copies the runs that are due, until `isOver` returns true; returns the number of runs with new bytes. Throws if the
   * archive is unusable.
   */
  sweep(isOver: () => boolean): Promise<number>;
  /** Copies all unpacked runs, due or not, before this process exits, including runs that have ended since. */
  sweepLast(isOver: () => boolean): Promise<number>;
}

const CONCURRENCY = 4;
/** The maximum number of folders to search; a host executes far fewer concurrent runs. */
const MAX_RUNS = 2000;

interface Sweep {
  readonly isOver: () => boolean;
  readonly isLast: boolean;
}

interface Growing {
  dueAt: number;
  readonly copy: GrowingCopy;
}

/**
 * Copies the recorded bytes of runs to the archive before they end: when this process exits, and while they grow if
 * `copyEveryMs` is set. A server on another host can then read them, and if the disk fails, only the bytes since the last
 * copy are lost. A run that ends before its first copy is left to packing.
 */
export function createRunningCopies({ archive, store, data, clock, logger }: UploadOptions): RunningCopies {
  const everyMs = archive.copyEveryMs ?? Number.POSITIVE_INFINITY;
  const runs = new Map<string, Growing>();
  const included = new Set<string>();

  async function copyOne(id: string, growing: Growing, { isOver, isLast }: Sweep): Promise<boolean> {
    growing.dueAt = clock() + everyMs;
    try {
      const record = await store.findRun(id);
      if (record === undefined || (await store.findRunsWithoutEvents([id])).length > 0) return false;
      // Such a run is uploaded as a packed file.
      if (await isPresent(getPackedRunPath(data, id))) return false;
      const isLeftToPacking = record.state === 'ended' && !isLast && !included.has(id);
      if (isLeftToPacking && !(await growing.copy.hasParts())) return false;
      const parts = await growing.copy.update(
        await listAuditFiles(getRunFolderPath(data, id), { trustedRoot: data }),
        isOver,
      );
      // Deleted while it was copied: the process that deleted it found nothing in the archive to remove.
      if (parts > 0 && (await store.findRunsWithoutEvents([id])).length > 0) await archive.remove(id);
      return parts > 0;
    } catch (error) {
      if (error instanceof ArchiveError && error.code !== 'ARCHIVE_DAMAGED') throw error;
      // The run has since been packed, and is uploaded as a packed file.
      if (getErrorCode(error) === 'RUN_FOLDER_NOT_FOUND') return false;
      logger.warn('cannot copy an active run to the archive, will retry later', {
        run_id: id,
        error: getErrorMessage(error),
      });
      return false;
    }
  }

  async function listGrowing(): Promise<[string, Growing][]> {
    const names = new Set(await listFirstNames(join(data, 'runs'), MAX_RUNS, chooseFolder));
    for (const id of runs.keys()) if (!names.has(id)) runs.delete(id);
    for (const id of included) if (!names.has(id)) included.delete(id);
    for (const id of names) {
      if (!runs.has(id)) runs.set(id, { dueAt: clock() + everyMs, copy: archive.openGrowingCopy(id) });
    }
    return [...runs];
  }

  async function sweep({ isOver, isLast }: Sweep): Promise<number> {
    const listed = await listGrowing();
    // Newest first, because the archive has the least of them.
    const due = isLast ? listed.toReversed() : listed.filter(([, { dueAt }]) => dueAt <= clock());
    let copied = 0;
    for (let at = 0; at < due.length && !isOver(); at += CONCURRENCY) {
      const group = due.slice(at, at + CONCURRENCY);
      const outcomes = await Promise.all(group.map(async ([id, growing]) => copyOne(id, growing, { isOver, isLast })));
      copied += outcomes.filter(Boolean).length;
    }
    return copied;
  }

  return {
    include(id) {
      if (included.has(id)) return;
      included.add(id);
      runs.set(id, { dueAt: clock(), copy: archive.openGrowingCopy(id) });
    },
    sweep: async (isOver) => sweep({ isOver, isLast: false }),
    sweepLast: async (isOver) => sweep({ isOver, isLast: true }),
  };
}
