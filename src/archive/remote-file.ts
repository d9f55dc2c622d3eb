import type { ReadableFile } from '../base/index.js';
import { ArchiveError } from './archive-error.js';
import type { S3Client } from './s3-client.js';

/** Small files are fetched with one request, and so is the end of a larger one with all that is near it. */
const MIN_BYTES = 64 * 1024;
/** Sequential reads fetch larger and larger pieces. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Opens an object for reading any part of it; undefined if it does not exist. Nothing is held open: closing it does nothing. An
 * object that is replaced meanwhile is an error, not a mixture.
 */
export async function openRemoteFile(client: S3Client, key: string): Promise<ReadableFile | undefined> {
  const head = await client.send({ method: 'HEAD', key });
  if (head.status === 404) return undefined;
  const size = Number(head.headers.get('content-length') ?? Number.NaN);
  if (!Number.isSafeInteger(size)) throw damaged(client, key, 'its size is unknown');
  const etag = head.headers.get('etag');
  let block = { start: 0, bytes: new Uint8Array() };
  let ahead = MIN_BYTES;

  async function fetchBlock(position: number, length: number): Promise<void> {
    const end = block.start + block.bytes.length;
    ahead = position === end && end > 0 ? Math.min(ahead * 2, MAX_BYTES) : MIN_BYTES;
    const start = size <= MIN_BYTES ? 0 : position;
    const wanted = Math.min(size - start, Math.max(length + (position - start), ahead));
    const answer = await client.send({
      method: 'GET',
      key,
      headers: { range: `bytes=${start}-${start + wanted - 1}`, ...(etag === null ? {} : { 'if-match': etag }) },
      maxBytes: wanted,
    });
    const isWhole = answer.status === 200 && wanted === size;
    if ((answer.status !== 206 && !isWhole) || answer.body.length !== wanted) {
      throw damaged(client, key, `it returned ${answer.body.length} of ${wanted} bytes`);
    }
    block = { start, bytes: answer.body };
  }

  return {
    stat: async () => ({ size }),
    async read(buffer, offset, length, position) {
      const wanted = Math.min(length, size - position, MAX_BYTES);
      if (wanted <= 0) return { bytesRead: 0 };
      const isHere = position >= block.start && position < block.start + block.bytes.length;
      if (!isHere) await fetchBlock(position, wanted);
      const found = block.bytes.subarray(position - block.start, position - block.start + wanted);
      buffer.set(found, offset);
      return { bytesRead: found.length };
    },
    close: async () => undefined,
  };
}

/** The object is not what was uploaded. */
export function damaged({ place }: S3Client, key: string, why: string): ArchiveError {
  const message = `Cannot use "${key}" in the archive ${place}: ${why}. Restore it from a backup of the archive.`;
  return new ArchiveError('ARCHIVE_DAMAGED', message);
}
