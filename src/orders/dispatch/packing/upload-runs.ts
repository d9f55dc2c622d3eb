import { once } from 'node:events';
import { lstat, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { getErrorCode, getErrorMessage, setLatest, type Logger } from '../../../base/index.js';
import { ArchiveError, type UploadProgress, type Archive, type GrowingCopy } from '../../../runs/archive/index.js';
import {
  isPresent,
  listFirstNames,
  makeFolder,
  openForReading,
  openInside,
  parseJson,
  replaceFile,
  chooseFolder,
} from '../../../base/files/index.js';
import {
  ARTIFACT_FOLDER,
  PACKED_FOLDER,
  getPackedRunPath,
  getRunFolderPath,
  isArtifactPath,
  removePackedRun,
  type RunFile,
  listAuditFiles,
} from '../../../runs/run-folder/index.js';
import { lockFolder } from '../../../runs/index.js';
import type { RunRecord } from '../../../store/records/index.js';
import type { RunStore } from '../../../store/ports/index.js';
import type { Maintenance } from '../../../store/index.js';
import { isThroughServer } from '../reconcile.js';
import { ignoreBusyFolder } from '../run-to-end.js';

const CONCURRENCY = 4;
/** The maximum number of note files that one sweep reads. */
const MAX_NOTES = 2000;
/** The delay after an archive failure; doubled with each further failure. */
const FIRST_PAUSE_MS = 15_000;
const MAX_PAUSE_MS = 10 * 60_000;
const NOTE = /^(?<id>.+)\.json$/u;
/** Packed runs are in folders named `000` to `fff`. */
const SHARDS = 4096;

/**
 * Uploads runs to the archive: in parts while they grow, then packed. A note file marks a run as not yet uploaded; it is
 * removed when the archive provably has the run. Runs are uploaded concurrently; only one process per data folder uploads at a time. If the archive is unusable, all
 * uploads pause, longer each time; a run that cannot be uploaded delays no others. The local file stays until the
 * archive provably has the same bytes.
 */
export function createUploads(options: UploadOptions) {
  const { archive, store, data, clock, logger } = options;
  const folder = join(data, PACKED_FOLDER, 'upload');
  const getNotePath = (id: string): string => join(folder, `${id}.json`);
  const postponed = new Map<string, number>();
  const copies = createRunningCopies(options);
  let pauseMs = 0;
  let pausedUntil = 0;

  /** Writes a note that a run must be uploaded; called before its packed file gets its name, so a crash loses no run. */
  async function add(id: string): Promise<void> {
    await makeFolder(folder);
    // An existing note can contain upload progress.
    await writeFile(getNotePath(id), '{}', { flag: 'wx', mode: 0o600 }).catch((error: unknown) => {
      if (getErrorCode(error) !== 'EEXIST') throw error;
    });
  }

  /** Copies growing runs before this process exits, and waits for another process that does the same; never throws. */
  async function finish(withinMs: number): Promise<void> {
    const signal = AbortSignal.timeout(withinMs);
    // A hanging request must not keep the process alive: an incomplete upload is continued at the next start.
    const timeout = once(signal, 'abort').then(() => `not done after ${withinMs} ms`);
    const outcome = await Promise.race([copyLast(signal).catch(getErrorMessage), timeout]);
    if (typeof outcome === 'string') {
      logger.warn('cannot copy all recorded bytes to the archive before the process exits', { error: outcome });
    } else if (outcome > 0) logger.info('active runs copied to the archive', { runs: outcome });
  }

  async function copyLast(signal: AbortSignal): Promise<number> {
    await makeFolder(folder);
    const lock = await lockFolder(join(data, 'locks'), folder, { wait: true, signal });
    try {
      return await copies.sweep({ isOver: () => signal.aborted, isLast: true });
    } finally {
      await lock.release();
    }
  }

  /** Copies growing runs and uploads waiting ones, until `isOver` returns true; returns the number of uploaded runs. */
  async function sweep(isOver: () => boolean): Promise<number> {
    if (clock() < pausedUntil) return 0;
    await makeFolder(folder);
    const lock = await lockFolder(join(data, 'locks'), folder).catch(ignoreBusyFolder);
    if (lock === undefined) return 0;
    try {
      await addEarlierRuns();
      await copies.sweep({ isOver, isLast: false });
      return await uploadWaiting(isOver);
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      pause(error);
      return 0;
    } finally {
      await lock.release();
    }
  }

  async function uploadWaiting(isOver: () => boolean): Promise<number> {
    const ids = (await listNotes(folder)).filter((id) => (postponed.get(id) ?? 0) <= clock());
    let uploaded = 0;
    for (let at = 0; at < ids.length && !isOver(); at += CONCURRENCY) {
      const group = ids.slice(at, at + CONCURRENCY);
      const purged = new Set(await store.findRunsWithoutEvents(group));
      const outcomes = await Promise.all(group.map(async (id) => uploadOne(id, purged.has(id))));
      uploaded += outcomes.filter((outcome) => outcome === 'uploaded').length;
      const failure = outcomes.find((outcome) => outcome instanceof ArchiveError);
      if (failure instanceof ArchiveError) {
        pause(failure);
        return uploaded;
      }
      pauseMs = 0;
    }
    return uploaded;
  }

  function pause({ code, message }: ArchiveError): void {
    pauseMs = Math.min(Math.max(FIRST_PAUSE_MS, pauseMs * 2), MAX_PAUSE_MS);
    pausedUntil = clock() + pauseMs;
    logger.warn('cannot upload to the archive, will retry', { code, error: message, pause_ms: pauseMs });
  }

  async function uploadOne(id: string, isPurged: boolean): Promise<'uploaded' | 'not_uploaded' | ArchiveError> {
    try {
      if (isPurged) {
        const progress = readProgress(await readFile(getNotePath(id), 'utf8'));
        await archive.remove(id, { progress });
        await removePackedRun(data, id);
        await rm(getNotePath(id), { force: true });
        return 'not_uploaded';
      }
      const file = await openForReading(getPackedRunPath(data, id));
      if (file === undefined) {
        // The process was killed after it had written the note and before the packed file got its name.
        if (!(await isPresent(getRunFolderPath(data, id)))) await rm(getNotePath(id), { force: true });
        return 'not_uploaded';
      }
      try {
        const progress = readProgress(await readFile(getNotePath(id), 'utf8'));
        const onProgress = async (latest: UploadProgress) => replaceFile(getNotePath(id), JSON.stringify(latest));
        await archive.upload(id, file, { progress, onProgress });
      } finally {
        await file.close();
      }
      // Deleted while it was uploaded: the process that deleted it found nothing in the archive to remove.
      if ((await store.findRunsWithoutEvents([id])).length > 0) await archive.remove(id);
      if (!archive.keepsLocal) await removePackedRun(data, id);
      await rm(getNotePath(id), { force: true });
      return 'uploaded';
    } catch (error) {
      if (error instanceof ArchiveError && error.code !== 'ARCHIVE_DAMAGED') return error;
      setLatest(postponed, MAX_NOTES, id, clock() + MAX_PAUSE_MS);
      logger.warn('cannot upload a run, will retry later', { run_id: id, error: getErrorMessage(error) });
      return 'not_uploaded';
    }
  }

  /**
   * Writes notes for the runs that were packed before this archive was configured, a folder at a time, whenever few
   * runs are waiting. A file records the progress.
   */
  async function addEarlierRuns(): Promise<void> {
    const path = join(data, PACKED_FOLDER, 'archived.json');
    const storedPosition = readPosition(await readFile(path, 'utf8').catch(() => '{}'));
    let next = storedPosition?.place === archive.location ? storedPosition.next : 0;
    if (next >= SHARDS || (await listNotes(folder)).length > CONCURRENCY) return;
    for (let remaining = MAX_NOTES; next < SHARDS && remaining > 0; next += 1) {
      const shard = join(data, PACKED_FOLDER, next.toString(16).padStart(3, '0'));
      const names = await readdir(shard).catch(() => []);
      for (const name of names.filter((zip) => zip.endsWith('.zip'))) await add(name.slice(0, -'.zip'.length));
      remaining -= names.length;
    }
    await replaceFile(path, JSON.stringify({ place: archive.location, next }));
  }

  return {
    add,
    sweep,
    finish,
    /** Records that an ended run cannot be packed: its parts stay in the archive, and the rest of it is copied. */
    keepParts: (id: string) => copies.include(id),
  };
}

async function listNotes(folder: string): Promise<readonly string[]> {
  return listFirstNames(folder, MAX_NOTES, ({ name }) => NOTE.exec(name)?.groups?.['id']);
}

function readProgress(text: string): UploadProgress | undefined {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null) return undefined;
  if (!('upload_id' in value && 'part_bytes' in value && 'etags' in value)) return undefined;
  const { upload_id, part_bytes, etags } = value;
  if (typeof upload_id !== 'string' || typeof part_bytes !== 'number' || !isStrings(etags)) return undefined;
  return { upload_id, part_bytes, etags };
}

function isStrings(list: unknown): list is string[] {
  return Array.isArray(list) && list.every((item) => typeof item === 'string');
}

function readPosition(text: string): { readonly place: string; readonly next: number } | undefined {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || !('place' in value && 'next' in value)) return undefined;
  const { place, next } = value;
  return typeof place === 'string' && Number.isSafeInteger(next) ? { place, next: Number(next) } : undefined;
}

/** Limits for stored copies of changed files: enough to inspect them, not a copy of a project. */
const MAX_FILES = 1000;
const MAX_FILE_BYTES = 16 * 1024 * 1024;
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;
/** Some file systems round times to seconds. */
const SLACK_MS = 2000;

/**
 * Whether a run's working folder is on this host: it was executed here, or not yet. A worker over HTTPS could name any
 * folder of this host, so the files that it has sent are used.
 */
export function isExecutedHere({ owner }: Pick<RunRecord, 'owner'>): boolean {
  return owner === null || (['', hostname()].includes(owner.host) && !isThroughServer(owner));
}

/** Lists the files that a run created or changed, except files changed after the run ended. */
export async function* listArtifactFiles({
  result,
  ended_at: endedAt,
  spec,
}: Pick<RunRecord, 'result' | 'ended_at' | 'spec'>): AsyncGenerator<RunFile> {
  if (result === null || endedAt === null) return;
  const until = Date.parse(endedAt) + SLACK_MS;
  let bytes = 0;
  const { created, modified } = result.artifacts;
  for (const path of [...created, ...modified].filter(isArtifactPath).slice(0, MAX_FILES)) {
    const stats = await lstat(join(spec.workdir, path)).catch(() => undefined);
    if (stats?.isFile() !== true || stats.mtimeMs > until || stats.size > MAX_FILE_BYTES) continue;
    bytes += stats.size;
    if (bytes > MAX_TOTAL_BYTES) return;
    yield {
      path: `${ARTIFACT_FOLDER}/${path.replaceAll('\\', '/')}`,
      size: stats.size,
      mtimeMs: stats.mtimeMs,
      open: async () => openInside(spec.workdir, path),
    };
  }
}

interface UploadOptions {
  readonly archive: Archive;
  readonly store: Pick<Maintenance, 'findRunsWithoutEvents'> & Pick<RunStore, 'findRun'>;
  readonly data: string;
  readonly clock: () => number;
  readonly logger: Logger;
}

const MAX_RUNS = 2000;

interface Sweep {
  readonly isOver: () => boolean;
  /** Copies all unpacked runs, due or not, including those that have ended since: this process exits. */
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
function createRunningCopies({ archive, store, data, clock, logger }: UploadOptions) {
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
      const files = await listAuditFiles(getRunFolderPath(data, id), { trustedRoot: data });
      const parts = await growing.copy.update(files, isOver);
      // Deleted while it was copied: the process that deleted it found nothing in the archive to remove.
      if (parts > 0 && (await store.findRunsWithoutEvents([id])).length > 0) await archive.remove(id);
      return parts > 0;
    } catch (error) {
      if (error instanceof ArchiveError && error.code !== 'ARCHIVE_DAMAGED') throw error;
      // The run has since been packed, and is uploaded as a packed file.
      if (getErrorCode(error) === 'RUN_FOLDER_NOT_FOUND') return false;
      const fields = { run_id: id, error: getErrorMessage(error) };
      logger.warn('cannot copy an active run to the archive, will retry later', fields);
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

  /**
   * Copies the runs that are due, until `isOver` returns true; returns the number of runs with new bytes. Throws if the
   * archive is unusable.
   */
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
    sweep,
    /** Continues to copy a run after its end, because it cannot be packed. */
    include(id: string): void {
      if (included.has(id)) return;
      included.add(id);
      runs.set(id, { dueAt: clock(), copy: archive.openGrowingCopy(id) });
    },
  };
}
