import { describe, expect, it } from 'vitest';
import { openRemoteFile } from './remote-file.js';
import type { S3Client, S3Response } from './s3-client.js';

/** Creates a client for a 1 MiB object. All requested ranges are returned together when `release` is called. */
function createPausedClient() {
  const content = Buffer.alloc(1024 * 1024, 'a').fill('b', 512 * 1024);
  const pendingResponses: (() => void)[] = [];
  const respond = (status: number, body: Uint8Array<ArrayBuffer>, headers = {}): S3Response => ({
    status,
    headers: new Headers(headers),
    body,
    code: undefined,
  });
  const client: S3Client = {
    location: 's3://runs',
    async send({ method, headers }) {
      if (method === 'HEAD') return respond(200, new Uint8Array(), { 'content-length': String(content.length) });
      const [, start, end] = /^bytes=(\d+)-(\d+)$/u.exec(headers?.['range'] ?? '') ?? [];
      await new Promise<void>((resolve) => {
        pendingResponses.push(resolve);
      });
      return respond(206, content.subarray(Number(start), Number(end) + 1));
    },
    listNames: async () => [],
  };
  const release = (): void => {
    for (const respondNow of pendingResponses) respondNow();
  };
  return { client, pendingResponses, release };
}

describe('a remote file', () => {
  it('returns the requested bytes to concurrent readers', async () => {
    const { client, pendingResponses, release } = createPausedClient();
    const file = await openRemoteFile(client, 'key');
    const read = async (position: number): Promise<string> => {
      const buffer = Buffer.alloc(4);
      await file?.read(buffer, 0, 4, position);
      return buffer.toString();
    };
    const reads = [read(600_000), read(0), read(700_000), read(100_000)];
    await expect.poll(() => pendingResponses.length).toBe(4);
    release();
    expect(await Promise.all(reads)).toEqual(['bbbb', 'aaaa', 'bbbb', 'aaaa']);
  });
});
