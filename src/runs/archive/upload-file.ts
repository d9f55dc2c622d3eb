import { createHash } from 'node:crypto';
import { readChunks, readSpan } from '../../base/files/index.js';
import type { ReadableFile } from '../../base/index.js';
import { ArchiveError, type S3Client } from './s3-client.js';
import { createDamagedError, openRemoteFile } from './remote-file.js';

/** The progress of a multipart upload; the caller stores it, so another process can resume the upload. */
export interface UploadProgress {
  readonly upload_id: string;
  readonly part_bytes: number;
  /** ETags of the uploaded parts, in order. */
  readonly etags: readonly string[];
}

export interface Upload {
  readonly key: string;
  readonly file: ReadableFile;
  readonly progress?: UploadProgress | undefined;
  /** Called after each part, to store the progress in case of a crash. */
  readonly onProgress?: (progress: UploadProgress) => Promise<void>;
  /** The part size; smaller files are uploaded in one request. */
  readonly partBytes?: number;
}

const DEFAULT_PART_BYTES = 16 * 1024 * 1024;
const MAX_PARTS = 10_000;
const WILL_UPLOAD_AGAIN = 'It will be uploaded again.';
const CHECK_MULTIPART_SUPPORT = 'Check that the store supports multipart uploads.';

/** Uploads a file and verifies the archived bytes. If they differ, removes the object and throws `ARCHIVE_DAMAGED`. */
export async function uploadFile(client: S3Client, upload: Upload): Promise<void> {
  const { size } = await upload.file.stat();
  const partBytes = Math.max(upload.partBytes ?? DEFAULT_PART_BYTES, Math.ceil(size / MAX_PARTS));
  const sha256 = await hashFile(upload.file);
  const info = { size, sha256, partBytes };
  const etag =
    size <= partBytes ? await putInOneRequest(client, upload, info) : await putMultipart(client, upload, info);
  if (await isIntact(client, upload.key, { ...info, etag })) return;
  await client.send({ method: 'DELETE', key: upload.key });
  throw createDamagedError(client, upload.key, 'it was corrupted during the upload', WILL_UPLOAD_AGAIN);
}

const MAX_PUT_ATTEMPTS = 3;

/** Writes an object and verifies it. If the bytes differ, retries, and finally throws `ARCHIVE_DAMAGED`. */
export async function putObject(
  client: S3Client,
  { key, body, type }: { readonly key: string; readonly body: Uint8Array<ArrayBuffer>; readonly type: string },
): Promise<void> {
  for (let attempt = 1; attempt <= MAX_PUT_ATTEMPTS; attempt += 1) {
    const response = await client.send({ method: 'PUT', key, body, headers: { 'content-type': type } });
    if (unquote(response.headers.get('etag') ?? '') === md5(body)) return;
    const { status, body: found } = await client.send({ method: 'GET', key, maxBytes: body.length });
    if (status === 200 && Buffer.compare(body, found) === 0) return;
  }
  throw createDamagedError(client, key, 'it was corrupted during the upload', WILL_UPLOAD_AGAIN);
}

interface FileInfo {
  readonly size: number;
  readonly sha256: string;
  readonly partBytes: number;
}

function createHeaders({ sha256 }: FileInfo): Record<string, string> {
  return { 'content-type': 'application/zip', 'x-amz-meta-sha256': sha256 };
}

/** Returns the object's ETag in a store that uses MD5 for ETags. */
async function putInOneRequest(client: S3Client, { key, file }: Upload, info: FileInfo): Promise<string> {
  const body = await readPart(file, 0, info.size);
  await client.send({ method: 'PUT', key, body, headers: createHeaders(info) });
  return md5(body);
}

async function putMultipart(client: S3Client, upload: Upload, info: FileInfo): Promise<string> {
  const { key, file, onProgress } = upload;
  const { size, partBytes } = info;
  const count = Math.ceil(size / partBytes);
  let { progress } = upload;
  if (progress !== undefined && (progress.part_bytes !== partBytes || progress.etags.length > count)) {
    await abortUpload(client, key, progress);
    progress = undefined;
  }
  for (let isNewUpload = progress === undefined; ; isNewUpload = true) {
    progress ??= await startMultipartUpload(client, key, info);
    await onProgress?.(progress);
    const uploaded = await putRemainingParts(progress);
    if (uploaded !== undefined) return uploaded;
    // Stores discard uploads that are idle for too long: start a new upload, but only once.
    await abortUpload(client, key, progress);
    if (isNewUpload) throw createDamagedError(client, key, 'the store did not complete the upload', WILL_UPLOAD_AGAIN);
    progress = undefined;
  }

  /** Returns undefined if the store no longer has the upload, or could not complete it. */
  async function putRemainingParts(from: UploadProgress): Promise<string | undefined> {
    let { etags } = from;
    const uploadId = from.upload_id;
    // An earlier process might have completed the upload and been killed before it received the response.
    if (etags.length === count && (await isUploaded(client, key, info))) return combineEtags(etags);
    while (etags.length < count) {
      const at = etags.length * partBytes;
      const body = await readPart(file, at, Math.min(partBytes, size - at));
      const query = { partNumber: String(etags.length + 1), uploadId };
      const response = await client.send({ method: 'PUT', key, query, body });
      if (response.status === 404) return undefined;
      const etag = unquote(response.headers.get('etag') ?? '');
      if (etag === '' || /[<>&"]/u.test(etag))
        throw createDamagedError(client, key, 'the store returned no ETag for a part', CHECK_MULTIPART_SUPPORT);
      etags = [...etags, etag];
      await onProgress?.({ ...from, etags });
    }
    const parts = etags.map(
      (etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>"${etag}"</ETag></Part>`,
    );
    const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
    const response = await client.send({ method: 'POST', key, query: { uploadId }, body });
    // A store that fails after starting its response reports the error in the body.
    const hasFailed = response.status === 404 || /<Error>/u.test(Buffer.from(response.body).toString('latin1'));
    return hasFailed ? undefined : combineEtags(etags);
  }
}

/** Discards an upload's parts, which the store would keep forever, and unlisted. Failures only cost space. */
export async function abortUpload(
  client: S3Client,
  key: string,
  { upload_id: uploadId }: Pick<UploadProgress, 'upload_id'>,
): Promise<void> {
  await client.send({ method: 'DELETE', key, query: { uploadId } }).catch(() => undefined);
}

/** Returns the ETag of a multipart object, as most stores compute it. */
function combineEtags(etags: readonly string[]): string {
  const combined = createHash('md5');
  for (const etag of etags) combined.update(etag, 'hex');
  return `${combined.digest('hex')}-${etags.length}`;
}

async function startMultipartUpload(client: S3Client, key: string, info: FileInfo): Promise<UploadProgress> {
  const response = await client.send({ method: 'POST', key, query: { uploads: '' }, headers: createHeaders(info) });
  const id = /<UploadId>([^<>&]{1,1024})<\/UploadId>/u.exec(Buffer.from(response.body).toString('utf8'))?.[1];
  if (id === undefined)
    throw createDamagedError(client, key, 'the store does not accept multipart uploads', CHECK_MULTIPART_SUPPORT);
  return { upload_id: id, part_bytes: info.partBytes, etags: [] };
}

async function isUploaded(client: S3Client, key: string, { size, sha256 }: FileInfo): Promise<boolean> {
  const { status, headers } = await client.send({ method: 'HEAD', key });
  return (
    status === 200 && headers.get('content-length') === String(size) && headers.get('x-amz-meta-sha256') === sha256
  );
}

/** Whether the object equals the file, by its ETag or by its bytes. */
async function isIntact(client: S3Client, key: string, info: FileInfo & { readonly etag: string }): Promise<boolean> {
  const head = await client.send({ method: 'HEAD', key });
  if (head.status !== 200 || head.headers.get('content-length') !== String(info.size)) return false;
  if (unquote(head.headers.get('etag') ?? '') === info.etag) return true;
  const file = await openRemoteFile(client, key);
  return file !== undefined && (await hashFile(file)) === info.sha256;
}

async function readPart(file: ReadableFile, position: number, length: number): Promise<Buffer<ArrayBuffer>> {
  const bytes = await readSpan(file, position, length);
  if (bytes.length === length) return bytes;
  throw new ArchiveError(
    'ARCHIVE_DAMAGED',
    'A packed run was truncated while it was being uploaded. It will be uploaded again.',
  );
}

/** Hashes bytes or text with SHA-256, in hexadecimal digits. */
export function hash(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex');
}

async function hashFile(file: ReadableFile): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of readChunks(file)) digest.update(chunk);
  return digest.digest('hex');
}

function md5(bytes: Uint8Array): string {
  return createHash('md5').update(bytes).digest('hex');
}

function unquote(etag: string): string {
  return etag.replaceAll('"', '');
}
