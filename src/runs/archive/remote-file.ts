import type { ReadableFile } from '../../base/index.js';
import { ArchiveError, type S3Client } from './s3-client.js';

/** The minimum number of bytes to fetch, so one request is enough for a small file or the end of a larger file. */
const MIN_FETCHED_BYTES = 64 * 1024;
/** The maximum number of bytes to fetch: sequential reads fetch ever larger blocks, up to this size. */
const MAX_FETCHED_BYTES = 8 * 1024 * 1024;

/** Consecutive bytes of an object, and the position of the first byte. */
interface Block {
  readonly start: number;
  readonly bytes: Uint8Array;
}

/** Opens an object for random access; undefined if it does not exist. Reading fails if it was replaced meanwhile. */
export async function openRemoteFile(client: S3Client, key: string): Promise<ReadableFile | undefined> {
  const head = await client.send({ method: 'HEAD', key });
  if (head.status === 404) return undefined;
  const size = Number(head.headers.get('content-length') ?? Number.NaN);
  if (!Number.isSafeInteger(size)) throw createDamagedError(client, key, 'its size is unknown');
  const etag = head.headers.get('etag');
  let block: Block = { start: 0, bytes: new Uint8Array() };
  let readAhead = MIN_FETCHED_BYTES;

  async function fetchBlock(position: number, length: number): Promise<Block> {
    const end = block.start + block.bytes.length;
    readAhead = position === end && end > 0 ? Math.min(readAhead * 2, MAX_FETCHED_BYTES) : MIN_FETCHED_BYTES;
    const start = size <= MIN_FETCHED_BYTES ? 0 : position;
    const wanted = Math.min(size - start, Math.max(length + (position - start), readAhead));
    const response = await client.send({
      method: 'GET',
      key,
      headers: { range: `bytes=${start}-${start + wanted - 1}`, ...(etag === null ? {} : { 'if-match': etag }) },
      maxBytes: wanted,
    });
    if (response.status === 404 || response.status === 412)
      throw createDamagedError(client, key, 'it was removed or replaced while it was being read', 'Read it again.');
    const isFullObject = response.status === 200 && wanted === size;
    if ((response.status !== 206 && !isFullObject) || response.body.length !== wanted) {
      throw createDamagedError(client, key, `the store returned ${response.body.length} of ${wanted} bytes`);
    }
    block = { start, bytes: response.body };
    return block;
  }

  return {
    stat: async () => ({ size }),
    async read(buffer, offset, length, position) {
      const wanted = Math.min(length, size - position, MAX_FETCHED_BYTES);
      if (wanted <= 0) return { bytesRead: 0 };
      const isCached = position >= block.start && position < block.start + block.bytes.length;
      // Uses the returned block, because a concurrent read can replace the cached block.
      const { start, bytes } = isCached ? block : await fetchBlock(position, wanted);
      const requested = bytes.subarray(position - start, position - start + wanted);
      buffer.set(requested, offset);
      return { bytesRead: requested.length };
    },
    close: async () => undefined,
  };
}

export function createDamagedError(
  { location }: S3Client,
  key: string,
  reason: string,
  advice = 'Restore it from a backup of the archive.',
): ArchiveError {
  const message = `Cannot use "${key}" in the archive ${location}: ${reason}. ${advice}`;
  return new ArchiveError('ARCHIVE_DAMAGED', message);
}
