import { parseJson } from '../../base/files/index.js';
import { count, flag, object, text, type FromSchema } from '../../base/index.js';
import { fromRecordSchema } from '../../json/schema/index.js';
import { getPackedRunName } from '../run-folder/index.js';
import { createDamagedError } from './remote-file.js';
import { ArchiveError, type S3Client } from './s3-client.js';
import { hash, putObject } from './upload-file.js';

/*
 * The session of a run that waits for an answer is stored in parts, `sessions/<3 hex digits>/<run id>/1`, `2`, …, and a
 * `manifest`. The manifest is written before the parts, so whatever a crash leaves can be removed, and again after them.
 */

/** A part fits into a request of a worker. */
const PART_BYTES = 1024 * 1024;
/** More than the largest session has. */
export const MAX_SESSION_PARTS = 80;

const manifestSchema = object({ parts: { ...count, maximum: MAX_SESSION_PARTS }, sha256: text, complete: flag });
export type SessionManifest = FromSchema<typeof manifestSchema>;
const manifestValidator = fromRecordSchema<SessionManifest>(manifestSchema);

export interface SessionParts {
  find(runId: string): Promise<SessionManifest | undefined>;
  describe(runId: string, manifest: SessionManifest): Promise<void>;
  write(runId: string, part: number, bytes: Uint8Array): Promise<void>;
  read(runId: string, part: number): Promise<Uint8Array | undefined>;
  remove(runId: string): Promise<void>;
}

export type SessionKeeper = ReturnType<typeof createSessionKeeper>;

/** Keeps what other workers need to resume waiting runs. */
export function createSessionKeeper(store: SessionParts) {
  return {
    async save(runId: string, bytes: Uint8Array): Promise<void> {
      await store.remove(runId);
      const parts = Math.ceil(bytes.length / PART_BYTES);
      const manifest = { parts, sha256: hash(bytes) };
      await store.describe(runId, { ...manifest, complete: false });
      for (let part = 1; part <= parts; part += 1)
        await store.write(runId, part, bytes.subarray((part - 1) * PART_BYTES, part * PART_BYTES));
      await store.describe(runId, { ...manifest, complete: true });
    },
    /** Returns undefined if the run has no complete session. */
    async load(runId: string): Promise<Uint8Array | undefined> {
      const manifest = await store.find(runId);
      if (manifest?.complete !== true) return undefined;
      const parts: Uint8Array[] = [];
      for (let part = 1; part <= manifest.parts; part += 1) {
        const bytes = await store.read(runId, part);
        if (bytes === undefined || bytes.length > PART_BYTES) return undefined;
        parts.push(bytes);
      }
      const whole = Buffer.concat(parts);
      return hash(whole) === manifest.sha256 ? whole : undefined;
    },
    has: async (runId: string): Promise<boolean> => (await store.find(runId))?.complete === true,
    remove: async (runId: string): Promise<void> => store.remove(runId),
  };
}

export function createArchivedSessions(client: S3Client): SessionParts {
  async function find(runId: string): Promise<SessionManifest | undefined> {
    const key = getKey(runId, 'manifest');
    const { status, body } = await client.send({ method: 'GET', key });
    if (status === 404) return undefined;
    const manifest = readManifest(parseJson(Buffer.from(body).toString()));
    if (manifest === undefined) throw createDamagedError(client, key, 'it is not a manifest');
    return manifest;
  }

  return {
    find,
    async describe(runId, manifest) {
      const body = Buffer.from(JSON.stringify(manifest));
      await putObject(client, { key: getKey(runId, 'manifest'), body, type: 'application/json' });
    },
    async write(runId, part, bytes) {
      const type = 'application/octet-stream';
      await putObject(client, { key: getKey(runId, part), body: Buffer.from(bytes), type });
    },
    async read(runId, part) {
      const { status, body } = await client.send({ method: 'GET', key: getKey(runId, part), maxBytes: PART_BYTES });
      return status === 404 ? undefined : body;
    },
    async remove(runId) {
      const found = await find(runId).catch((error: unknown) => {
        if (error instanceof ArchiveError && error.code === 'ARCHIVE_DAMAGED') return { parts: MAX_SESSION_PARTS };
        throw error;
      });
      if (found === undefined) return;
      for (let part = 1; part <= found.parts; part += 1)
        await client.send({ method: 'DELETE', key: getKey(runId, part) });
      await client.send({ method: 'DELETE', key: getKey(runId, 'manifest') });
    },
  };
}

export function readManifest(value: unknown): SessionManifest | undefined {
  const checked = manifestValidator['~standard'].validate(value);
  return checked instanceof Promise || checked.issues !== undefined ? undefined : checked.value;
}

function getKey(runId: string, part: number | 'manifest'): string {
  return `sessions/${getPackedRunName(runId).replace(/\.zip$/u, '')}/${part}`;
}
