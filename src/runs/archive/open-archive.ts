import { randomUUID } from 'node:crypto';
import type { ReadableFile } from '../../base/index.js';
import { getPackedRunName, readPackedRun, type RunFolder } from '../run-folder/index.js';
import type { ArchiveSettings } from './archive-settings.js';
import { createGrowingCopy, openGrowingRun, removeGrowingRun, type GrowingCopy } from './growing-run.js';
import { createDamagedError, openRemoteFile } from './remote-file.js';
import { createS3Client, type S3RetryOptions } from './s3-client.js';
import { createArchivedSessions, createSessionKeeper } from './saved-sessions.js';
import { abortUpload, uploadFile, type Upload } from './upload-file.js';

/** An S3 store for the runs of all hosts: packed, or in parts while they grow. */
export type Archive = Awaited<ReturnType<typeof openArchive>>;

/** For tests. */
export interface ArchiveOptions {
  readonly retry?: S3RetryOptions;
  readonly partBytes?: number;
  readonly clock?: () => number;
}

/** Opens the configured archive. Sends no request yet. */
export async function openArchive(settings: ArchiveSettings, options: ArchiveOptions = {}) {
  const { location, keepsLocal, copyEveryMs } = settings;
  const { clock = Date.now } = options;
  const client = await createS3Client(settings, options.retry);
  const partBytes = options.partBytes === undefined ? {} : { partBytes: options.partBytes };
  const parts = createArchivedSessions(client);
  const sessions = { ...parts, ...createSessionKeeper(parts) };
  async function openPacked(runId: string): Promise<RunFolder | undefined> {
    const key = getPackedRunName(runId);
    const file = await openRemoteFile(client, key);
    // One remote file for all files of the run, because it caches the bytes it has fetched.
    return file === undefined ? undefined : readPackedRun(async () => file, `${location}/${key}`);
  }

  return {
    /** For messages: `s3://bucket/prefix`. */
    location,
    keepsLocal,
    copyEveryMs,
    /** The sessions of runs that wait for an answer, until they have ended. */
    sessions,
    /** Opens the copy of a growing run for updating. Only one process at a time may use it. */
    openGrowingCopy: (runId: string): GrowingCopy =>
      createGrowingCopy(client, runId, { partBytes: settings.growingPartBytes, clock }),
    /** Uploads a packed run, which replaces its parts; resolves once the archived bytes are verified. */
    async upload(
      runId: string,
      file: ReadableFile,
      uploadOptions: Pick<Upload, 'progress' | 'onProgress'> = {},
    ): Promise<void> {
      await uploadFile(client, { key: getPackedRunName(runId), file, ...uploadOptions, ...partBytes });
      await removeGrowingRun(client, runId);
      await sessions.remove(runId);
    },
    /** Opens a packed run, or the copied part of a growing run; undefined if the archive has neither. */
    async openRun(runId: string): Promise<RunFolder | undefined> {
      // The packed file is tried again last, in case the run was packed, and its parts removed, meanwhile.
      return (await openPacked(runId)) ?? (await openGrowingRun(client, runId)) ?? openPacked(runId);
    },
    /** Removes a run's packed file and parts, and those of an incomplete upload. */
    async remove(runId: string, { progress }: Pick<Upload, 'progress'> = {}): Promise<void> {
      if (progress !== undefined) await abortUpload(client, getPackedRunName(runId), progress);
      await client.send({ method: 'DELETE', key: getPackedRunName(runId) });
      await removeGrowingRun(client, runId);
      await sessions.remove(runId);
    },
    /** Writes, reads and deletes a small object; throws an `ArchiveError` if a step fails. */
    async check(): Promise<void> {
      const key = `check-${randomUUID()}`;
      const body = Buffer.from('Sluice checks whether it can use this archive.\n');
      await client.send({ method: 'PUT', key, body });
      const range = { range: `bytes=7-${body.length - 1}` };
      const found = await client.send({ method: 'GET', key, headers: range }).catch(async (error: unknown) => {
        // Deleting can fail too, but the reported error is why reading failed.
        await client.send({ method: 'DELETE', key }).catch(() => undefined);
        throw error;
      });
      await client.send({ method: 'DELETE', key });
      if (found.status !== 206 || !body.subarray(7).equals(found.body))
        throw createDamagedError(
          client,
          key,
          'the bytes read differ from the bytes written',
          'Check that the store supports range requests.',
        );
    },
  };
}
