import { basename, dirname, join } from 'node:path';
import { createWriteStream, fstatSync } from 'node:fs';
import { lstat, mkdir, utimes } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { getErrorCode, listKeys, type ReadableFile, type TrustedRoot } from '../../base/index.js';
import { makeFolder, readChunks, removeFolder, withFolder } from '../../base/files/index.js';
import { ATTEMPT_FILES, AUDIT_FOLDER, getAttemptFileName } from './file-names.js';
import { openRunFolder } from './open-run-folder.js';
import { openIfRegular, readEnd, type RunFile } from './run-files.js';
import { getRunFolderPath } from './run-place.js';
import type { AttemptMeta } from './attempt/attempt-meta.js';

/** A file of a growing run, as of when it was listed. */
export interface AuditFile {
  /** The path relative to the run folder, with slashes. */
  readonly path: string;
  /** Distinguishes the file from a later file with the same name. */
  readonly id: string;
  readonly size: number;
  /** Returns undefined if the file was deleted or replaced. */
  open(): Promise<ReadableFile | undefined>;
}

/**
 * Lists the files that a run has recorded so far, in write order, without the derived logs. Sizes are read in reverse
 * order, so the bytes of every listed timing are within the listed sizes, and a copy looks like an interrupted run.
 */
export async function listAuditFiles(dir: string, root: TrustedRoot = {}): Promise<readonly AuditFile[]> {
  const folder = await openRunFolder(dir, root);
  const names = (await folder.attempts()).flatMap((attempt) =>
    listKeys(ATTEMPT_FILES).map((file) => getAttemptFileName(file, attempt)),
  );
  const files: AuditFile[] = [];
  for (const name of names.toReversed()) {
    const path = join(folder.place, name);
    const stats = await lstat(path, { bigint: true }).catch(() => undefined);
    if (stats?.isFile() !== true) continue;
    const id = String(stats.ino);
    files.push({
      path: `${AUDIT_FOLDER}/${name}`,
      id,
      size: Number(stats.size),
      open: async () => openIfSame(path, id, root),
    });
  }
  return files.toReversed();
}

async function openIfSame(path: string, id: string, root: TrustedRoot): Promise<ReadableFile | undefined> {
  const handle = await openIfRegular(path, root);
  if (handle === undefined) return undefined;
  const { ino } = fstatSync(handle.fd, { bigint: true });
  if (String(ino) === id) return handle;
  await handle.close();
  return undefined;
}

export async function copyRunFiles(
  files: AsyncIterable<RunFile>,
  to: string,
  onBytes: (bytes: number) => void,
): Promise<void> {
  await mkdir(to);
  for await (const file of files) {
    const opened = await file.open();
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

/** Removes a run's folder, but nothing behind a link; returns whether it existed. */
export async function removeRunFolder(data: string, runId: string): Promise<boolean> {
  const folder = getRunFolderPath(data, runId);
  const work = async (place: string): Promise<boolean> => {
    const path = join(place, basename(folder));
    if (!(await lstat(path)).isDirectory()) return false;
    await removeFolder(path);
    return true;
  };
  try {
    return await withFolder(dirname(folder), { trustedRoot: data }, { work });
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

const NOTHING = new Uint8Array();

/**
 * Reads the end of a run's last attempt and its command, as far as its folder can be read; a terminal's output counts as
 * stdout. The agent could write there, so it is not proof of anything.
 */
export async function readLastAttempt(dir: string, maxBytes: number, root: TrustedRoot = {}) {
  const folder = await openRunFolder(dir, root).catch(() => undefined);
  const attempt = (await folder?.attempts().catch(() => []))?.at(-1);
  const read = async (stream: 'stdout' | 'stderr' | 'pty'): Promise<Uint8Array> => {
    if (folder === undefined || attempt === undefined) return NOTHING;
    const end = await readEnd(async () => folder.openAttempt(stream, attempt), maxBytes).catch(() => undefined);
    return end?.bytes ?? NOTHING;
  };
  const [stdout, stderr, pty] = await Promise.all([read('stdout'), read('stderr'), read('pty')]);
  const meta: AttemptMeta = attempt === undefined ? {} : ((await folder?.meta(attempt).catch(() => ({}))) ?? {});
  const { command = [], version = null } = meta;
  return { stdout: stdout.length > 0 ? stdout : pty, stderr, command, version };
}
