import { createWriteStream } from 'node:fs';
import { lstat, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { readChunks, makeFolder } from '../../base/files/index.js';
import { copyRunFiles, listFilesWithLogs, type RunFile, type RunFolder } from '../../runs/run-folder/index.js';
import { SluiceError, type ReadableFile } from '../../base/index.js';

/** Packs files into a tar archive, even while they are written: each up to the size it had when it was opened. */
export async function* tarRun(files: AsyncIterable<RunFile>, name: string): AsyncGenerator<Uint8Array, void> {
  yield createHeader({ path: `${name}/`, size: 0, mtimeMs: 0, isFolder: true });
  for await (const file of files) yield* tarFile(file, `${name}/${file.path}`);
  yield TAR_END;
}

export async function* tarFiles(
  files: readonly { readonly path: string; readonly bytes: Uint8Array }[],
): AsyncGenerator<Uint8Array, void> {
  const mtimeMs = Date.now();
  for (const { path, bytes } of files) yield* tarFile({ mtimeMs, open: async () => openBytes(bytes) }, path);
  yield TAR_END;
}

/** Packs a file. A file that was deleted or replaced by a link since it was listed is skipped. */
async function* tarFile(file: Pick<RunFile, 'mtimeMs' | 'open'>, path: string): AsyncGenerator<Uint8Array, void> {
  const handle = await file.open();
  if (handle === undefined) return;
  try {
    const { size } = await handle.stat();
    yield createHeader({ path, size, mtimeMs: file.mtimeMs, isFolder: false });
    let offset = 0;
    for await (const chunk of readChunks(handle, { to: size })) {
      yield chunk;
      offset += chunk.length;
    }
    // A file that has since been truncated is padded with zeros, because its size is already in the header.
    for (; offset < size; offset += ZEROS.length) yield ZEROS.subarray(0, size - offset);
    yield createPadding(size);
  } finally {
    await handle.close();
  }
}

const ZEROS = new Uint8Array(64 * 1024);

interface TarEntry {
  /** With forward slashes; a folder's path ends with one. */
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly isFolder: boolean;
}

const TAR_BLOCK = 512;

/** The end of an archive: two empty blocks. */
const TAR_END = new Uint8Array(2 * TAR_BLOCK);

const NAME_BYTES = 100;
/** The largest number that a header can contain: eleven octal digits. */
const MAX_OCTAL = 8 ** 11 - 1;

/** Creates a header in the POSIX format: ustar if name, size and time fit, otherwise with a pax record before it. */
function createHeader(entry: TarEntry): Uint8Array {
  const records = [
    ...(fitsName(entry.path) ? [] : [formatPaxRecord('path', entry.path)]),
    ...(entry.size <= MAX_OCTAL ? [] : [formatPaxRecord('size', String(entry.size))]),
    ...(toSeconds(entry.mtimeMs) <= MAX_OCTAL ? [] : [formatPaxRecord('mtime', String(toSeconds(entry.mtimeMs)))]),
  ];
  const header = createUstarBlock({ ...entry, type: entry.isFolder ? '5' : '0' });
  if (records.length === 0) return header;
  const body = Buffer.from(records.join(''));
  const path = `PaxHeaders/${entry.path}`;
  const extended = createUstarBlock({ path, size: body.length, mtimeMs: entry.mtimeMs, type: 'x' });
  return Buffer.concat([extended, body, createPadding(body.length), header]);
}

/** Creates the zeros that pad a file's last block. */
function createPadding(size: number): Uint8Array {
  return new Uint8Array((TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK);
}

/** Whether a path fits into a header's name field. Non-ASCII characters are portable only in a record. */
function fitsName(path: string): boolean {
  return Buffer.byteLength(path) <= NAME_BYTES && /^[\x20-\x7e]*$/.test(path);
}

/** Formats a record such as `25 path=a/long/name\n`, whose length includes its own digits. */
function formatPaxRecord(key: string, value: string): string {
  const content = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(content);
  let length = bytes + String(bytes).length;
  length = bytes + String(length).length;
  return `${length}${content}`;
}

function createUstarBlock({
  path,
  size,
  mtimeMs,
  type,
}: Omit<TarEntry, 'isFolder'> & { readonly type: '0' | '5' | 'x' }): Uint8Array {
  const block = Buffer.alloc(TAR_BLOCK);
  block.write(path.replaceAll(/[^\x20-\x7e]/g, '_').slice(0, NAME_BYTES), 0, 'latin1');
  block.write(formatOctal(type === '5' ? 0o755 : 0o644, 8), 100, 'latin1');
  block.write(formatOctal(0, 8), 108, 'latin1');
  block.write(formatOctal(0, 8), 116, 'latin1');
  block.write(formatOctal(Math.min(size, MAX_OCTAL), 12), 124, 'latin1');
  block.write(formatOctal(Math.min(toSeconds(mtimeMs), MAX_OCTAL), 12), 136, 'latin1');
  // The checksum is computed with blanks in the checksum field.
  block.write('        ', 148, 'latin1');
  block.write(type, 156, 'latin1');
  // Magic, terminator, version.
  block.write('ustar\u000000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

/** Headers cannot contain a time before 1970. */
function toSeconds(ms: number): number {
  return Math.max(0, Math.floor(ms / 1000));
}

function formatOctal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, '0')}\0`;
}

/** The output of an attempt, in the folder that `ls` does not show. */
const PRINTED = /^\.audit\/((?:stdout|stderr|pty-output)\.\d+\.log)$/;

const README = `# A run, exported by Sluice

| part | content |
| --- | --- |
| \`log/\` | what the agent printed, one file for each stream and attempt |
| \`.audit/\` | Sluice's records: the same output, \`meta.N.json\` (how an attempt was started and ended), \`timing.N.jsonl\`, \`fs-diff.N.json\` (changed files), and the events (\`events.jsonl\`, \`fcmp.jsonl\`, \`parser_diagnostics.jsonl\`) |
| \`.artifacts/\` | the files that the run changed in its working folder, if they were kept |
| everything else | written by the agent, or for it |

\`sluice translate FOLDER\` prints the events again, and \`sluice replay FOLDER\` checks that they are the same.
`;

/**
 * Lists a run's files for a copy that people look at: with a README, and with the output where `ls` shows it. A file
 * that the agent wrote under such a name takes precedence.
 */
export async function* listExportFiles(folder: RunFolder): AsyncGenerator<RunFile> {
  const paths = new Set<string>();
  const printed: RunFile[] = [];
  let mtimeMs = 0;
  for await (const file of listFilesWithLogs(folder)) {
    paths.add(file.path);
    mtimeMs = Math.max(mtimeMs, file.mtimeMs);
    const name = PRINTED.exec(file.path)?.[1];
    if (name !== undefined && file.size > 0)
      printed.push({ ...file, path: `log/${name}`, open: async () => file.open() });
    yield file;
  }
  const readme = Buffer.from(README);
  printed.push({ path: 'README.md', size: readme.length, mtimeMs, open: async () => openBytes(readme) });
  for (const file of printed) if (!paths.has(file.path)) yield file;
}

/** Opens bytes as if they were a file. */
function openBytes(bytes: Uint8Array): ReadableFile {
  return {
    stat: async () => ({ size: bytes.length }),
    async read(buffer, offset, length, position) {
      const found = bytes.subarray(position, position + length);
      buffer.set(found, offset);
      return { bytesRead: found.length };
    },
    close: async () => undefined,
  };
}

/**
 * Copies a run's files, for example as a test fixture: to a folder, or to an archive if the name ends in `.tar`. Links
 * and devices, which an agent might have created, are skipped. Existing files are never overwritten.
 */
export async function exportRunFolder(
  { folder, runId, target }: { readonly folder: RunFolder; readonly runId: string; readonly target: string },
  onProgress: (bytes: number) => void = () => undefined,
): Promise<{ readonly run_id: string; readonly target: string; readonly form: 'folder' | 'tar' }> {
  const to = resolve(target);
  if ((await lstat(to).catch(() => undefined)) !== undefined) {
    throw new SluiceError('TARGET_EXISTS', `"${to}" already exists and was not changed. Choose another target.`);
  }
  const isTar = to.endsWith('.tar');
  const part = `${to}.${process.pid}.part`;
  try {
    await makeFolder(dirname(to));
    let done = 0;
    const count = (bytes: number): void => onProgress((done += bytes));
    const files = listExportFiles(folder);
    if (isTar) {
      await pipeline(countBytes(tarRun(files, runId), count), createWriteStream(part, { flags: 'wx' }));
    } else await copyRunFiles(files, part, count);
    await rename(part, to);
  } finally {
    await rm(part, { recursive: true, force: true }).catch(() => undefined);
  }
  return { run_id: runId, target: to, form: isTar ? 'tar' : 'folder' };
}

async function* countBytes(
  chunks: AsyncIterable<Uint8Array>,
  count: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of chunks) {
    count(chunk.length);
    yield chunk;
  }
}
