import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { FileError } from '../base/index.js';
import { makeFolder, readChunks } from '../files/index.js';
import type { RunFolder } from './open-run-folder.js';
import type { RunFile } from './run-files.js';

/** Options for copying a run's files. */
interface CopyOptions {
  /** Selects the files to copy; all by default. */
  readonly wants?: (file: RunFile) => boolean;
  readonly onBytes?: (bytes: number) => void;
}

/** Copies a run's files, packed or not, into a new folder. */
export async function copyRunFiles(run: RunFolder, to: string, options: CopyOptions = {}): Promise<void> {
  const { wants = () => true, onBytes = () => undefined } = options;
  await mkdir(to);
  for await (const file of run.files()) {
    const opened = wants(file) ? await file.open() : undefined;
    if (opened === undefined) continue;
    try {
      const { size } = await opened.stat();
      const copy = join(to, ...file.path.split('/'));
      await makeFolder(dirname(copy));
      await pipeline(readChunks(opened, { to: size }), createWriteStream(copy, { flags: 'wx' }));
      await utimes(copy, file.mtimeMs / 1000, file.mtimeMs / 1000);
      onBytes(size);
    } finally {
      await opened.close();
    }
  }
}

/**
 * Calls `use` with a folder that contains a run's files: the run folder or, for a packed run, a temporary folder with
 * the requested files. Throws `FILE_TOO_LARGE` if these exceed `maxBytes` in total.
 */
export async function withPlainFolder<Result>(
  run: RunFolder,
  { wants, maxBytes }: { readonly wants: (file: RunFile) => boolean; readonly maxBytes: number },
  use: (dir: string) => Promise<Result>,
): Promise<Result> {
  if (run.dir !== undefined) return use(run.dir);
  let bytes = 0;
  for await (const file of run.files()) bytes += wants(file) ? file.size : 0;
  if (bytes > maxBytes) {
    throw new FileError(
      'FILE_TOO_LARGE',
      `The requested files of "${run.place}" are larger than ${maxBytes} bytes in total.`,
    );
  }
  const temporary = await mkdtemp(join(tmpdir(), 'sluice-run-'));
  try {
    const dir = join(temporary, run.name);
    await copyRunFiles(run, dir, { wants });
    return await use(dir);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
