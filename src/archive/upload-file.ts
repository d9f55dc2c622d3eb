import { createHash } from 'node:crypto';
import { readChunks, readSpan } from '../files/index.js';
import type { ReadableFile } from '../base/index.js';
import { ArchiveError } from './archive-error.js';
import { damaged, openRemoteFile } from './remote-file.js';
import type { S3Response, S3Client } from './s3-client.js';

/** How far an upload in parts has come; kept by the caller, so that another process can resume it. */
export interface UploadProgress {
  readonly upload_id: string;
  readonly part_bytes: number;
  /** ETags of the uploaded parts. */
  readonly etags: readonly string[];
}

/** A file on its way into the archive. */
export interface Upload {
  readonly key: string;
  readonly file: ReadableFile;
  /** How far an earlier process got. */
  readonly progress?: UploadProgress | undefined;
  /** Called after each part; what it keeps survives a crash. */
  readonly onProgress?: (progress: UploadProgress) => Promise<void>;
  /** The size of parts; smaller files are uploaded with one request. */
  readonly partBytes?: number;
}

const PART_BYTES = 16 * 1024 * 1024;
const MAX_PARTS = 10_000;

/**
 * Uploads a file and returns once the archive provably holds the same bytes: by the MD5 that most stores return, otherwise by
 * reading everything back. A file that does not arrive unchanged is removed there, and `ARCHIVE_DAMAGED` is thrown.
 */
export async function uploadFile(client: S3Client, upload: Upload): Promise<void> {
  const { size } = await upload.file.stat();
  const partBytes = Math.max(upload.partBytes ?? PART_BYTES, Math.ceil(size / MAX_PARTS));
  const sha256 = await hashFile(upload.file);
  const facts = { size, sha256, partBytes };
  const etag = size <= partBytes ? await putWhole(client, upload, facts) : await putParts(client, upload, facts);
  if (await isIntact(client, upload.key, { ...facts, etag })) return;
  await client.send({ method: 'DELETE', key: upload.key });
  throw damaged(client, upload.key, 'it was corrupted during the upload. It will be uploaded again');
}

/** A small object that is written at once. */
export interface SmallObject {
  readonly key: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly type: string;
}

const PUT_TRIES = 3;

/** Writes an object and returns once the archive provably holds the same bytes, as {@link uploadFile} does. */
export async function putObject(client: S3Client, { key, body, type }: SmallObject): Promise<void> {
  for (let tried = 1; tried <= PUT_TRIES; tried += 1) {
    const answer = await client.send({ method: 'PUT', key, body, headers: { 'content-type': type } });
    requireFound(client, answer);
    if (unquote(answer.headers.get('etag') ?? '') === md5(body)) return;
    const { status, body: found } = await client.send({ method: 'GET', key, maxBytes: body.length });
    if (status === 200 && Buffer.compare(body, found) === 0) return;
  }
  throw damaged(client, key, 'it was corrupted during the upload. It will be uploaded again');
}

interface Facts {
  readonly size: number;
  readonly sha256: string;
  readonly partBytes: number;
}

function describe({ sha256 }: Facts): Record<string, string> {
  return { 'content-type': 'application/zip', 'x-amz-meta-sha256': sha256 };
}

/** Returns the ETag that the object has if its store computes MD5. */
async function putWhole(client: S3Client, { key, file }: Upload, facts: Facts): Promise<string> {
  const body = await readPart(file, 0, facts.size);
  requireFound(client, await client.send({ method: 'PUT', key, body, headers: describe(facts) }));
  return md5(body);
}

async function putParts(client: S3Client, upload: Upload, facts: Facts): Promise<string> {
  const { key, file, onProgress } = upload;
  const { size, partBytes } = facts;
  const count = Math.ceil(size / partBytes);
  const isUsable = upload.progress?.part_bytes === partBytes && upload.progress.etags.length <= count;
  let progress = isUsable ? upload.progress : undefined;
  for (let isSecondTry = progress === undefined; ; isSecondTry = true) {
    progress ??= await beginParts(client, key, facts);
    await onProgress?.(progress);
    const uploaded = await putRemaining(progress);
    if (uploaded !== undefined) return uploaded;
    // The store has dropped an upload that was left alone for long.
    if (isSecondTry) throw damaged(client, key, 'its upload is unknown to the store. It will be uploaded again');
    progress = undefined;
  }

  /** Undefined if the store does not know the upload. */
  async function putRemaining(from: UploadProgress): Promise<string | undefined> {
    let { etags } = from;
    const uploadId = from.upload_id;
    // An earlier process may have completed it and was killed before it knew.
    if (etags.length === count && (await isThere(client, key, facts))) return combine(etags);
    while (etags.length < count) {
      const at = etags.length * partBytes;
      const body = await readPart(file, at, Math.min(partBytes, size - at));
      const query = { partNumber: String(etags.length + 1), uploadId };
      const answer = await client.send({ method: 'PUT', key, query, body });
      if (answer.status === 404) return undefined;
      const etag = unquote(answer.headers.get('etag') ?? '');
      if (etag === '' || /[<>&"]/u.test(etag)) throw damaged(client, key, 'a part of it has no ETag');
      etags = [...etags, etag];
      await onProgress?.({ ...from, etags });
    }
    const parts = etags.map(
      (etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>"${etag}"</ETag></Part>`,
    );
    const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
    const answer = await client.send({ method: 'POST', key, query: { uploadId }, body });
    // A store that fails after it has started its response reports the error in the body.
    const failed = answer.status === 404 || /<Error>/u.test(Buffer.from(answer.body).toString('latin1'));
    return failed ? undefined : combine(etags);
  }
}

/** The ETag of an object made of parts, as most stores compute it. */
function combine(etags: readonly string[]): string {
  const whole = createHash('md5');
  for (const etag of etags) whole.update(etag, 'hex');
  return `${whole.digest('hex')}-${etags.length}`;
}

async function beginParts(client: S3Client, key: string, facts: Facts): Promise<UploadProgress> {
  const answer = await client.send({ method: 'POST', key, query: { uploads: '' }, headers: describe(facts) });
  const id = /<UploadId>([^<>&]{1,1024})<\/UploadId>/u.exec(Buffer.from(answer.body).toString('utf8'))?.[1];
  if (id === undefined) throw damaged(client, key, 'the store does not accept multipart uploads');
  return { upload_id: id, part_bytes: facts.partBytes, etags: [] };
}

async function isThere(client: S3Client, key: string, { size, sha256 }: Facts): Promise<boolean> {
  const { status, headers } = await client.send({ method: 'HEAD', key });
  return (
    status === 200 && headers.get('content-length') === String(size) && headers.get('x-amz-meta-sha256') === sha256
  );
}

/** Whether the object is the file: by its ETag, or by its bytes. */
async function isIntact(client: S3Client, key: string, facts: Facts & { readonly etag: string }): Promise<boolean> {
  const head = await client.send({ method: 'HEAD', key });
  if (head.status !== 200 || head.headers.get('content-length') !== String(facts.size)) return false;
  if (unquote(head.headers.get('etag') ?? '') === facts.etag) return true;
  const file = await openRemoteFile(client, key);
  return file !== undefined && (await hashFile(file)) === facts.sha256;
}

function requireFound(client: S3Client, { status }: S3Response): void {
  if (status !== 404) return;
  throw new ArchiveError(
    'ARCHIVE_BUCKET_MISSING',
    `The archive ${client.place} does not exist. Create the bucket, or correct "archive".`,
  );
}

async function readPart(file: ReadableFile, position: number, length: number): Promise<Buffer<ArrayBuffer>> {
  const bytes = await readSpan(file, position, length);
  if (bytes.length === length) return bytes;
  throw new ArchiveError(
    'ARCHIVE_DAMAGED',
    'A packed run was cut short while it was uploaded. It will be uploaded again.',
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
