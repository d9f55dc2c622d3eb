import { readSpan } from '../../base/files/index.js';
import type { ReadableFile } from '../../base/index.js';
import { getPackedRunName, readRunFiles, type AuditFile, type RunFolder } from '../run-folder/index.js';
import { ArchiveError, type S3Client } from './s3-client.js';
import {
  EMPTY_MANIFEST,
  countBytes,
  formatManifest,
  listPartNumbers,
  parseManifest,
  planPart,
} from './growing-manifest.js';
import type { CopiedFile, GrowingManifest, Part, PartPlan } from './growing-manifest.js';
import { createDamagedError } from './remote-file.js';
import { hash, putObject } from './upload-file.js';

/*
 * A growing run is stored in parts, `growing/<3 hex digits>/<run id>/1`, `2`, …, and a `manifest` that lists their
 * content. A part is uploaded, then the manifest that lists it, then the part that it replaces is deleted. A process
 * killed at any point leaves a manifest with all of its parts, and at most two more parts, whose numbers follow from
 * the manifest.
 */

/** Larger than the manifest of the longest run. */
const MAX_MANIFEST_BYTES = 32 * 1024 * 1024;
/** The number of parts a reader caches. A run's files grow together, so most reads are from the same part. */
const MAX_CACHED_PARTS = 2;
/** How often a reader fetches the manifest again because the run was copied again meanwhile. */
const MAX_REFRESHES = 5;

export type GrowingCopy = ReturnType<typeof createGrowingCopy>;

/** Creates a copy that continues where an earlier update, or another process, stopped. */
export function createGrowingCopy(
  client: S3Client,
  runId: string,
  { partBytes, clock }: { readonly partBytes: number; readonly clock: () => number },
) {
  let manifest: GrowingManifest | undefined;

  /** Loads the manifest of an earlier update or process, and deletes its leftover parts. */
  async function load(): Promise<GrowingManifest> {
    if (manifest !== undefined) return manifest;
    const found = await fetchManifest(client, runId);
    if (found !== undefined) {
      const listedNumbers = new Set(found.parts.map(({ number }) => number));
      for (const number of listPartNumbers(found))
        if (!listedNumbers.has(number)) await deletePart(client, runId, number);
    }
    manifest = found ?? EMPTY_MANIFEST;
    return manifest;
  }

  return {
    hasParts: async () => (await load()).parts.length > 0,
    /** Uploads new content, until `shouldStop` returns true; returns the number of uploaded parts. */
    async update(files: readonly AuditFile[], shouldStop: () => boolean = () => false): Promise<number> {
      let current = await load();
      // Reloaded after a failure: the archive might already have the new manifest, and might still have the replaced
      // part.
      manifest = undefined;
      let uploaded = 0;
      const planNext = () => planPart(current, files, partBytes);
      for (let plan = planNext(); plan !== undefined; plan = planNext()) {
        const body = await readContent(plan, files);
        await putObject(client, { key: getPartKey(runId, plan.number), body, type: 'application/octet-stream' });
        current = plan.finish({ bytes: body.length, sha256: hash(body) }, clock());
        await putObject(client, { key: getManifestKey(runId), body: formatManifest(current), type: 'text/plain' });
        uploaded += 1;
        if (plan.replaces !== undefined) await deletePart(client, runId, plan.replaces);
        if (shouldStop()) break;
      }
      manifest = current;
      return uploaded;
    },
  };
}

/** Removes a run's parts and manifest, if any. */
export async function removeGrowingRun(client: S3Client, runId: string): Promise<void> {
  const manifest = await fetchManifest(client, runId).catch((error: unknown) => {
    if (error instanceof ArchiveError && error.code === 'ARCHIVE_DAMAGED') return 'damaged' as const;
    throw error;
  });
  if (manifest === 'damaged') await deleteListedParts(client, runId);
  else for (const number of listPartNumbers(manifest ?? EMPTY_MANIFEST)) await deletePart(client, runId, number);
  // Deleted last, so the next process still finds the remaining parts after a crash.
  if (manifest !== undefined) await client.send({ method: 'DELETE', key: getManifestKey(runId) });
}

/** Deletes the parts that the store lists, page by page, until none are left. */
async function deleteListedParts(client: S3Client, runId: string): Promise<void> {
  const deleted = new Set<number>();
  for (;;) {
    const names = await client.listNames(getRunKey(runId)).catch((error: unknown) => {
      // Reported as a fault of this run, since the archive itself is usable.
      if (!(error instanceof ArchiveError) || error.code !== 'ARCHIVE_REFUSED') throw error;
      const reason = 'it is damaged, and the store does not list the parts of the run';
      const advice =
        'Check that the store supports ListObjects, and that the access key has permission to list the bucket.';
      throw createDamagedError(client, getManifestKey(runId), reason, advice);
    });
    const numbers = names.filter((name) => /^\d{1,15}$/u.test(name)).map(Number);
    const remaining = numbers.filter((number) => !deleted.has(number));
    if (remaining.length === 0) return;
    for (const number of remaining) {
      await deletePart(client, runId, number);
      deleted.add(number);
    }
  }
}

/** Opens the copied part of a run that is still growing; undefined if nothing was copied yet. */
export async function openGrowingRun(client: S3Client, runId: string): Promise<RunFolder | undefined> {
  const found = await fetchManifest(client, runId);
  if (found === undefined) return undefined;
  const reader = createPartReader(client, runId, found);
  const files = found.files.map((file) => ({
    path: file.path,
    size: countBytes(file.spans),
    mtimeMs: found.copied_at,
    open: async () => reader.openFile(file),
  }));
  return readRunFiles(files, { place: `${client.location}/${getRunKey(runId)}`, name: runId });
}

/** Reads files from parts. Each part is fetched in full, and its SHA-256 is verified. */
function createPartReader(client: S3Client, runId: string, initial: GrowingManifest) {
  const cached = new Map<number, Promise<Uint8Array | undefined>>();
  let manifest = initial;
  let refreshes = 0;

  async function fetchPart(part: Part): Promise<Uint8Array | undefined> {
    const key = getPartKey(runId, part.number);
    const { status, body } = await client.send({ method: 'GET', key, maxBytes: part.bytes });
    if (status === 404) return undefined;
    if (body.length === part.bytes && hash(body) === part.sha256) return body;
    throw createDamagedError(client, key, 'its checksum does not match the manifest');
  }

  async function readPart(number: number): Promise<Uint8Array | undefined> {
    const part = manifest.parts.find((each) => each.number === number);
    if (part === undefined) return undefined;
    const bytes = cached.get(number) ?? fetchPart(part);
    cached.delete(number);
    cached.set(number, bytes);
    for (const old of cached.keys()) if (cached.size > MAX_CACHED_PARTS) cached.delete(old);
    try {
      return await bytes;
    } catch (error) {
      cached.delete(number);
      throw error;
    }
  }

  /** Fetches the manifest again after a part was replaced by a longer part. */
  async function refresh({ path, id }: CopiedFile, missing: number | undefined): Promise<CopiedFile> {
    refreshes += 1;
    const latest = refreshes > MAX_REFRESHES ? undefined : await fetchManifest(client, runId);
    const file = latest?.files.find((each) => each.path === path && each.id === id);
    if (latest === undefined || file === undefined) {
      const message = `The run ${runId} was replaced in the archive ${client.location} while it was being read. Read it again.`;
      throw new ArchiveError('ARCHIVE_UNAVAILABLE', message);
    }
    // A replaced part is deleted only after the manifest no longer names it.
    if (missing !== undefined && latest.parts.some(({ number }) => number === missing))
      throw createDamagedError(client, getPartKey(runId, missing), 'it is missing');
    manifest = latest;
    return file;
  }

  function openFile(opened: CopiedFile): ReadableFile {
    const size = countBytes(opened.spans);
    let file = opened;
    return {
      stat: async () => ({ size }),
      async read(buffer, offset, length, position) {
        const maxLength = Math.min(length, size - position);
        if (maxLength <= 0) return { bytesRead: 0 };
        for (;;) {
          const found = findSpan(file, position);
          const bytes = found === undefined ? undefined : await readPart(found.part);
          if (found !== undefined && bytes !== undefined) {
            const chunk = bytes.subarray(found.at, Math.min(found.end, found.at + maxLength));
            buffer.set(chunk, offset);
            return { bytesRead: chunk.length };
          }
          file = await refresh(file, found?.part);
        }
      },
      close: async () => undefined,
    };
  }

  return { openFile };
}

/** Finds the part that contains a file position, and the position within that part. */
function findSpan({ spans }: CopiedFile, position: number) {
  let start = 0;
  for (const { part, at, bytes } of spans) {
    if (position < start + bytes) return { part, at: at + position - start, end: at + bytes };
    start += bytes;
  }
  return undefined;
}

async function readContent({ content }: PartPlan, files: readonly AuditFile[]): Promise<Buffer<ArrayBuffer>> {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const chunks: Buffer[] = [];
  for (const { path, from, bytes } of content) {
    const file = await byPath.get(path)?.open();
    try {
      const chunk = file === undefined ? undefined : await readSpan(file, from, bytes);
      if (chunk?.length !== bytes) {
        // Not a fault of the archive: with this code, the caller skips only this run.
        throw new ArchiveError(
          'ARCHIVE_DAMAGED',
          `"${path}" was replaced while it was being copied. It will be copied again.`,
        );
      }
      chunks.push(chunk);
    } finally {
      await file?.close();
    }
  }
  return Buffer.concat(chunks);
}

async function fetchManifest(client: S3Client, runId: string): Promise<GrowingManifest | undefined> {
  const key = getManifestKey(runId);
  const { status, body } = await client.send({ method: 'GET', key, maxBytes: MAX_MANIFEST_BYTES });
  if (status === 404) return undefined;
  const manifest = parseManifest(body);
  if (manifest === undefined) throw createDamagedError(client, key, 'it is not a manifest, or its checksum is wrong');
  return manifest;
}

async function deletePart(client: S3Client, runId: string, number: number): Promise<void> {
  await client.send({ method: 'DELETE', key: getPartKey(runId, number) });
}

function getRunKey(runId: string): string {
  return `growing/${getPackedRunName(runId).replace(/\.zip$/u, '')}`;
}

function getPartKey(runId: string, number: number): string {
  return `${getRunKey(runId)}/${number}`;
}

function getManifestKey(runId: string): string {
  return `${getRunKey(runId)}/manifest`;
}
