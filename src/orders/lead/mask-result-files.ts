import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { RESULT_BYTES, RESULT_FILES } from '../reading/result-file.js';
import type { LeadContext } from './lead-context.js';

const READ_AND_WRITE = constants.O_RDWR | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Takes secrets out of what a worker reports, at equal length, as was done with all it printed: from here the result goes
 * into comments that others read. The files keep their times, by which an old one is told from a new one.
 */
export async function maskResultFiles({ secrets }: Pick<LeadContext, 'secrets'>, dir: string): Promise<void> {
  for (const name of RESULT_FILES) {
    // What cannot be written to stays as it is; who reads it masks it once more.
    const file = await open(join(dir, name), READ_AND_WRITE).catch(() => undefined);
    if (file === undefined) continue;
    try {
      await maskFile(file, (bytes) => {
        const masker = secrets.createMasker();
        return Buffer.concat([masker.push(bytes), masker.end()]);
      });
    } finally {
      await file.close();
    }
  }
}

/** A file with a second name may be anybody's, and is left alone; one that is too long is not read as a result either. */
async function maskFile(file: FileHandle, mask: (bytes: Buffer) => Buffer): Promise<void> {
  const found = await file.stat();
  if (!found.isFile() || found.nlink > 1 || found.size > RESULT_BYTES) return;
  const bytes = Buffer.alloc(found.size);
  const { bytesRead } = await file.read(bytes, 0, found.size, 0);
  const text = bytes.subarray(0, bytesRead);
  const masked = mask(text);
  if (masked.equals(text)) return;
  await file.write(masked, 0, masked.length, 0);
  await file.utimes(found.atime, found.mtime);
}
