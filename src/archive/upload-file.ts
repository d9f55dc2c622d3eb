import { createHash } from 'node:crypto';
import { readChunks, readSpan } from '../files/index.js';
import type { ReadableFile } from '../base/index.js';
import { ArchiveError } from './archive-error.js';
import { createDamagedError, openRemoteFile } from './remote-file.js';
import type { S3Response, S3Client } from './s3-client.js';

/** The progress of an upload in parts; the caller stores it, so that another process can resume the upload. */
export interface UploadProgress {
  readonly upload_id: string;
  readonly part_bytes: number;
  /** ETags of the uploaded parts, in order. */
  readonly etags: readonly string[];
}

/** A file to upload to the archive. */
export interface Upload {
  readonly key: string;
  readonly file: ReadableFile;
  /** The progress of an earlier process. */
  readonly progress?: UploadProgress | undefined;
  /** Called after each part, to store the progress for use after a crash. */
  readonly onProgress?: (progress: UploadProgress) => Promise<void>;
  /** The size of parts; smaller files are uploaded with one request. */
  readonly partBytes?: number;
}

const DEFAULT_PART_BYTES = 16 * 1024 * 1024;
const MAX_PARTS = 10_000;
const UPLOADED_AGAIN = 'It will be uploaded again.';
const CHECK_STORE = 'Check that the store supports multipart uploads.';

/**
 * Uploads a file and verifies that the archive has the same bytes: by the MD5 that most stores return,
 * otherwise by reading everything back. If the bytes differ, the object is removed and `ARCHIVE_DAMAGED` is thrown.
 */
export async function uploadFile(client: S3Client, upload: Upload): Promise<void> {
  const { size } = await upload.file.stat();
  const partBytes = Math.max(upload.partBytes ?? DEFAULT_PART_BYTES, Math.ceil(size / MAX_PARTS));
  const sha256 = await hashFile(upload.file);
  const facts = { size, sha256, partBytes };
  const etag = size <= partBytes ? await putInOneRequest(client, upload, facts) : await putParts(client, upload, facts);
  if (await isIntact(client, upload.key, { ...facts, etag })) return;
  await client.send({ method: 'DELETE', key: upload.key });
  throw createDamagedError(client, upload.key, 'it was corrupted during the upload', UPLOADED_AGAIN);
}

/** A small object that is written with one request. */
export interface SmallObject {
  readonly key: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly type: string;
}

const MAX_PUT_ATTEMPTS = 3;

/**
 * Writes an object and verifies that the archive has the same bytes: by the MD5, otherwise by reading them back. If they differ,
 * tries again, and finally throws `ARCHIVE_DAMAGED`.
 */
export async function putObject(client: S3Client, { key, body, type }: SmallObject): Promise<void> {
  for (let attempt = 1; attempt <= MAX_PUT_ATTEMPTS; attempt += 1) {
    const response = await client.send({ method: 'PUT', key, body, headers: { 'content-type': type } });
    requireBucket(client, response);
    if (unquote(response.headers.get('etag') ?? '') === md5(body)) return;
    const { status, body: found } = await client.send({ method: 'GET', key, maxBytes: body.length });
    if (status === 200 && Buffer.compare(body, found) === 0) return;
  }
  throw createDamagedError(client, key, 'it was corrupted during the upload', UPLOADED_AGAIN);
}

/** The size and the checksum of a file, and the size of its parts. */
interface FileFacts {
  readonly size: number;
  readonly sha256: string;
  readonly partBytes: number;
}

function createHeaders({ sha256 }: FileFacts): Record<string, string> {
  return { 'content-type': 'application/zip', 'x-amz-meta-sha256': sha256 };
}

/** Returns the ETag that the object has if the store uses MD5 for ETags. */
async function putInOneRequest(client: S3Client, { key, file }: Upload, facts: FileFacts): Promise<string> {
  const body = await readPart(file, 0, facts.size);
  requireBucket(client, await client.send({ method: 'PUT', key, body, headers: createHeaders(facts) }));
  return md5(body);
}

async function putParts(client: S3Client, upload: Upload, facts: FileFacts): Promise<string> {
  const { key, file, onProgress } = upload;
  const { size, partBytes } = facts;
  const count = Math.ceil(size / partBytes);
  let { progress } = upload;
  if (progress !== undefined && (progress.part_bytes !== partBytes || progress.etags.length > count)) {
    await abortUpload(client, key, progress);
    progress = undefined;
  }
  for (let isNew = progress === undefined; ; isNew = true) {
    progress ??= await beginParts(client, key, facts);
    await onProgress?.(progress);
    const uploaded = await putRemaining(progress);
    if (uploaded !== undefined) return uploaded;
    // A store discards uploads that are idle for too long: begin a new one, but only once.
    await abortUpload(client, key, progress);
    if (isNew) throw createDamagedError(client, key, 'the store did not complete its upload', UPLOADED_AGAIN);
    progress = undefined;
  }

  /** Returns undefined if the store no longer has the upload, or could not complete it. */
  async function putRemaining(from: UploadProgress): Promise<string | undefined> {
    let { etags } = from;
    const uploadId = from.upload_id;
    // An earlier process may have completed the upload and been killed before it got the response.
    if (etags.length === count && (await isUploaded(client, key, facts))) return combineEtags(etags);
    while (etags.length < count) {
      const at = etags.length * partBytes;
      const body = await readPart(file, at, Math.min(partBytes, size - at));
      const query = { partNumber: String(etags.length + 1), uploadId };
      const response = await client.send({ method: 'PUT', key, query, body });
      if (response.status === 404) return undefined;
      const etag = unquote(response.headers.get('etag') ?? '');
      if (etag === '' || /[<>&"]/u.test(etag))
        throw createDamagedError(client, key, 'the store returned no ETag for a part of it', CHECK_STORE);
      etags = [...etags, etag];
      await onProgress?.({ ...from, etags });
    }
    const parts = etags.map(
      (etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>"${etag}"</ETag></Part>`,
    );
    const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
    const response = await client.send({ method: 'POST', key, query: { uploadId }, body });
    // A store that fails after it has started its response reports the error in the body.
    const hasFailed = response.status === 404 || /<Error>/u.test(Buffer.from(response.body).toString('latin1'));
    return hasFailed ? undefined : combineEtags(etags);
  }
}

/**
 * Discards the parts of an upload that will not be completed; otherwise the store keeps them forever, and no list of
 * objects shows them. A failure is ignored: the parts only use space.
 */
export async function abortUpload(
  client: S3Client,
  key: string,
  { upload_id: uploadId }: Pick<UploadProgress, 'upload_id'>,
): Promise<void> {
  await client.send({ method: 'DELETE', key, query: { uploadId } }).catch(() => undefined);
}

/** Returns the ETag of an object made of parts, as most stores compute it. */
function combineEtags(etags: readonly string[]): string {
  const combined = createHash('md5');
  for (const etag of etags) combined.update(etag, 'hex');
  return `${combined.digest('hex')}-${etags.length}`;
}

async function beginParts(client: S3Client, key: string, facts: FileFacts): Promise<UploadProgress> {
  const response = await client.send({ method: 'POST', key, query: { uploads: '' }, headers: createHeaders(facts) });
  const id = /<UploadId>([^<>&]{1,1024})<\/UploadId>/u.exec(Buffer.from(response.body).toString('utf8'))?.[1];
  if (id === undefined)
    throw createDamagedError(client, key, 'the store does not accept multipart uploads', CHECK_STORE);
  return { upload_id: id, part_bytes: facts.partBytes, etags: [] };
}

async function isUploaded(client: S3Client, key: string, { size, sha256 }: FileFacts): Promise<boolean> {
  const { status, headers } = await client.send({ method: 'HEAD', key });
  return (
    status === 200 && headers.get('content-length') === String(size) && headers.get('x-amz-meta-sha256') === sha256
  );
}

/** Whether the object equals the file, by its ETag or by its bytes. */
async function isIntact(client: S3Client, key: string, facts: FileFacts & { readonly etag: string }): Promise<boolean> {
  const head = await client.send({ method: 'HEAD', key });
  if (head.status !== 200 || head.headers.get('content-length') !== String(facts.size)) return false;
  if (unquote(head.headers.get('etag') ?? '') === facts.etag) return true;
  const file = await openRemoteFile(client, key);
  return file !== undefined && (await hashFile(file)) === facts.sha256;
}

/** Throws if a write was answered with 404, which then concerns the bucket. */
export function requireBucket(client: S3Client, { status }: S3Response): void {
  if (status !== 404) return;
  throw new ArchiveError(
    'ARCHIVE_BUCKET_MISSING',
    `The archive ${client.location} does not exist. Create the bucket, or correct the setting "archive".`,
  );
}

async function readPart(file: ReadableFile, position: number, length: number): Promise<Buffer<ArrayBuffer>> {
  const bytes = await readSpan(file, position, length);
  if (bytes.length === length) return bytes;
  throw new ArchiveError(
    'ARCHIVE_DAMAGED',
    'A packed run was truncated while it was being uploaded. It will be uploaded again.',
  );
}

async function hashFile(file: ReadableFile): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of readChunks(file)) hash.update(chunk);
  return hash.digest('hex');
}

function md5(bytes: Uint8Array): string {
  return createHash('md5').update(bytes).digest('hex');
}

function unquote(etag: string): string {
  return etag.replaceAll('"', '');
}
