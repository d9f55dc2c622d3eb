import { randomUUID } from 'node:crypto';
import type { ReadableFile } from '../base/index.js';
import { getPackedRunName, readPackedRun } from '../run-folder/index.js';
import type { RunFolder } from '../run-folder/index.js';
import { ArchiveError } from './archive-error.js';
import type { ArchiveSettings } from './archive-settings.js';
import { createGrowingCopy, openGrowingRun, removeGrowingRun } from './growing-run.js';
import type { GrowingCopy } from './growing-run.js';
import { damaged, openRemoteFile } from './remote-file.js';
import { createS3Client } from './s3-client.js';
import type { S3RetryOptions } from './s3-client.js';
import { uploadFile } from './upload-file.js';
import type { Upload } from './upload-file.js';

/** Runs in a store that all machines share: packed, or in parts while they grow. */
export interface Archive {
  /** For messages: `s3://bucket/prefix`. */
  readonly place: string;
  /** Whether packed runs stay on the machine of the run as well. */
  readonly keepsLocal: boolean;
  /** How often a run is copied while it grows; undefined if only packed runs are uploaded. */
  readonly copyEveryMs: number | undefined;
  /** The copy of a run that is still growing. One process at a time makes it. */
  growing(runId: string): GrowingCopy;
  /** Uploads a packed run, which takes the place of its parts; resolves once the archive provably holds the same bytes. */
  upload(runId: string, file: ReadableFile, how?: Pick<Upload, 'progress' | 'onProgress'>): Promise<void>;
  /** Opens a run, packed or as far as it was copied while it grew; undefined if the archive has neither. */
  openRun(runId: string): Promise<RunFolder | undefined>;
  /** Removes a run, packed and in parts; harmless if it is not there. */
  remove(runId: string): Promise<void>;
  /** Writes, reads and deletes a small object; throws an `ArchiveError` if one of these steps fails. */
  check(): Promise<void>;
}

/** For tests. */
export interface ArchiveOptions {
  readonly retry?: Partial<S3RetryOptions>;
  readonly partBytes?: number;
  readonly clock?: () => number;
}

/**
 * Opens the archive of a configuration. Nothing is sent before it is used.
 *
 * @example
 * const archive = await openArchive(readArchiveSettings('s3://runs/team-a', process.env))
 * await (await archive.openRun('01J…'))?.attempts() // [1]
 */
export async function openArchive(settings: ArchiveSettings, options: ArchiveOptions = {}): Promise<Archive> {
  const { place, keepsLocal, copyEveryMs } = settings;
  const { clock = Date.now } = options;
  const client = await createS3Client(settings, options.retry);
  const partBytes = options.partBytes === undefined ? {} : { partBytes: options.partBytes };
  async function openPacked(runId: string): Promise<RunFolder | undefined> {
    const key = getPackedRunName(runId);
    const file = await openRemoteFile(client, key);
    // All files of the run are read from the one that was found: it keeps what it has fetched.
    return file === undefined ? undefined : readPackedRun(async () => file, `${place}/${key}`);
  }

  return {
    place,
    keepsLocal,
    copyEveryMs,
    growing: (runId) => createGrowingCopy(client, runId, { partBytes: settings.growingPartBytes, clock }),
    async upload(runId, file, how = {}) {
      await uploadFile(client, { key: getPackedRunName(runId), file, ...how, ...partBytes });
      await removeGrowingRun(client, runId);
    },
    async openRun(runId) {
      // The run is packed again at the end: its parts are removed when the packed file exists.
      return (await openPacked(runId)) ?? (await openGrowingRun(client, runId)) ?? openPacked(runId);
    },
    async remove(runId) {
      await client.send({ method: 'DELETE', key: getPackedRunName(runId) });
      await removeGrowingRun(client, runId);
    },
    async check() {
      const key = `check-${randomUUID()}`;
      const body = Buffer.from('Sluice checks that it can use this archive.\n');
      const put = await client.send({ method: 'PUT', key, body });
      if (put.status === 404) {
        throw new ArchiveError('ARCHIVE_BUCKET_MISSING', `The archive ${place} does not exist. Create the bucket.`);
      }
      const got = await client.send({ method: 'GET', key, headers: { range: `bytes=7-${body.length - 1}` } });
      await client.send({ method: 'DELETE', key });
      if (got.status !== 206 || !body.subarray(7).equals(got.body))
        throw damaged(client, key, 'it returns different bytes than were written, or does not support range requests');
    },
  };
}
