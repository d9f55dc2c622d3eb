import { createHash } from 'node:crypto';
import { readSpan } from '../files/index.js';
import type { ReadableFile } from '../base/index.js';
import { getPackedRunName, readRunFiles } from '../run-folder/index.js';
import type { AuditFile, RunFolder } from '../run-folder/index.js';
import { ArchiveError } from './archive-error.js';
import {
  EMPTY_MANIFEST,
  countBytes,
  formatManifest,
  listPartNumbers,
  parseManifest,
  planPart,
} from './growing-manifest.js';
import type { CopiedFile, GrowingManifest, Part, PartPlan } from './growing-manifest.js';
import { damaged } from './remote-file.js';
import type { S3Client } from './s3-client.js';
import { putObject } from './upload-file.js';

/*
 * A run that is still growing, in parts: `growing/<3 hex digits>/<run id>/1`, `2`, …, and `manifest`, which says what they hold.
 * A part is uploaded, then the manifest that lists it, then the part that it replaces is deleted: a process that is killed
 * anywhere leaves a manifest with all of its parts, and at most two parts more, whose numbers are known.
 */

/** Larger than the manifest of the longest run. */
const MANIFEST_BYTES = 32 * 1024 * 1024;
/** Parts that a reader keeps. Files of a run grow together, so that they are mostly read from the same part. */
const PARTS_KEPT = 2;
/** How often a reader fetches the manifest again because the run was copied further meanwhile. */
const MAX_REFRESHES = 5;

/** The copy of a growing run, as one process makes it. */
export interface GrowingCopy {
  /** Uploads what is new; returns how many parts that took. `isOver` ends it after a part. */
  update(files: readonly AuditFile[], isOver?: () => boolean): Promise<number>;
  /** Whether the archive has a part of the run. */
  hasParts(): Promise<boolean>;
}

export function createGrowingCopy(
  client: S3Client,
  runId: string,
  { partBytes, clock }: { readonly partBytes: number; readonly clock: () => number },
): GrowingCopy {
  let manifest: GrowingManifest | undefined;

  /** Continues from what an earlier process has copied. */
  async function load(): Promise<GrowingManifest> {
    if (manifest !== undefined) return manifest;
    const found = await fetchManifest(client, runId);
    if (found !== undefined) {
      const listed = new Set(found.parts.map(({ number }) => number));
      for (const number of listPartNumbers(found)) if (!listed.has(number)) await deletePart(client, runId, number);
    }
    manifest = found ?? EMPTY_MANIFEST;
    return manifest;
  }

  return {
    hasParts: async () => (await load()).parts.length > 0,
    async update(files, isOver = () => false) {
      let now = await load();
      let uploaded = 0;
      for (let plan = planPart(now, files, partBytes); plan !== undefined; plan = planPart(now, files, partBytes)) {
        const body = await readContent(plan, files);
        await putObject(client, { key: getPartKey(runId, plan.number), body, type: 'application/octet-stream' });
        now = plan.finish({ bytes: body.length, sha256: hash(body) }, clock());
        await putObject(client, { key: getManifestKey(runId), body: formatManifest(now), type: 'text/plain' });
        manifest = now;
        uploaded += 1;
        if (plan.replaces !== undefined) await deletePart(client, runId, plan.replaces);
        if (isOver()) break;
      }
      return uploaded;
    },
  };
}

/** Removes all parts of a run; harmless if there are none. */
export async function removeGrowingRun(client: S3Client, runId: string): Promise<void> {
  const manifest = await fetchManifest(client, runId).catch((error: unknown) => {
    if (error instanceof ArchiveError && error.code === 'ARCHIVE_DAMAGED') return EMPTY_MANIFEST;
    throw error;
  });
  for (const number of listPartNumbers(manifest ?? EMPTY_MANIFEST)) await deletePart(client, runId, number);
  // Last: until then the next process can find what remains.
  if (manifest !== undefined) await client.send({ method: 'DELETE', key: getManifestKey(runId) });
}

/** Opens a run that is still growing, as far as it was copied; undefined if nothing was. */
export async function openGrowingRun(client: S3Client, runId: string): Promise<RunFolder | undefined> {
  const found = await fetchManifest(client, runId);
  if (found === undefined) return undefined;
  const reader = createPartReader(client, runId, found);
  const files = found.files.map((file) => ({
    path: file.path,
    size: countBytes(file.spans),
    mtimeMs: found.copiedAt,
    open: async () => reader.openFile(file),
  }));
  return readRunFiles(files, { place: `${client.place}/${getRunKey(runId)}`, name: runId });
}

/** Reads files from parts, each fetched whole and compared with its SHA-256. */
function createPartReader(client: S3Client, runId: string, first: GrowingManifest) {
  const kept = new Map<number, Promise<Uint8Array | undefined>>();
  let manifest = first;
  let refreshes = 0;

  async function fetchPart(part: Part): Promise<Uint8Array | undefined> {
    const key = getPartKey(runId, part.number);
    const { status, body } = await client.send({ method: 'GET', key, maxBytes: part.bytes });
    if (status === 404) return undefined;
    if (body.length === part.bytes && hash(body) === part.sha256) return body;
    throw damaged(client, key, 'its bytes have a different checksum');
  }

  async function readPart(number: number): Promise<Uint8Array | undefined> {
    const part = manifest.parts.find((each) => each.number === number);
    if (part === undefined) return undefined;
    const bytes = kept.get(number) ?? fetchPart(part);
    kept.delete(number);
    kept.set(number, bytes);
    for (const old of kept.keys()) if (kept.size > PARTS_KEPT) kept.delete(old);
    try {
      return await bytes;
    } catch (error) {
      kept.delete(number);
      throw error;
    }
  }

  /** Its part was replaced by one that has the same bytes and more. */
  async function refresh(path: string, id: string): Promise<CopiedFile> {
    refreshes += 1;
    const now = refreshes > MAX_REFRESHES ? undefined : await fetchManifest(client, runId);
    const file = now?.files.find((each) => each.path === path && each.id === id);
    if (now === undefined || file === undefined) {
      const message = `The run ${runId} was replaced in the archive ${client.place} while it was being read. Read it again.`;
      throw new ArchiveError('ARCHIVE_UNAVAILABLE', message);
    }
    manifest = now;
    return file;
  }

  function openFile(opened: CopiedFile): ReadableFile {
    const size = countBytes(opened.spans);
    let file = opened;
    return {
      stat: async () => ({ size }),
      async read(buffer, offset, length, position) {
        const wanted = Math.min(length, size - position);
        if (wanted <= 0) return { bytesRead: 0 };
        for (;;) {
          const found = findSpan(file, position);
          const bytes = found === undefined ? undefined : await readPart(found.part);
          if (found !== undefined && bytes !== undefined) {
            const piece = bytes.subarray(found.at, Math.min(found.end, found.at + wanted));
            buffer.set(piece, offset);
            return { bytesRead: piece.length };
          }
          file = await refresh(file.path, file.id);
        }
      },
      close: async () => undefined,
    };
  }

  return { openFile };
}

/** Finds the part that contains a position of a file. */
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
  const pieces: Buffer[] = [];
  for (const { path, from, bytes } of content) {
    const file = await byPath.get(path)?.open();
    try {
      const piece = file === undefined ? undefined : await readSpan(file, from, bytes);
      if (piece?.length !== bytes) {
        throw new ArchiveError(
          'ARCHIVE_DAMAGED',
          `"${path}" was replaced while it was copied. It will be copied again.`,
        );
      }
      pieces.push(piece);
    } finally {
      await file?.close();
    }
  }
  return Buffer.concat(pieces);
}

async function fetchManifest(client: S3Client, runId: string): Promise<GrowingManifest | undefined> {
  const key = getManifestKey(runId);
  const { status, body } = await client.send({ method: 'GET', key, maxBytes: MANIFEST_BYTES });
  if (status === 404) return undefined;
  const manifest = parseManifest(body);
  if (manifest === undefined) throw damaged(client, key, 'it is not a manifest, or its checksum is wrong');
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

function hash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
