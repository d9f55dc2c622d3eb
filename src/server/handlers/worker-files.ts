import { open, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { constants } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { getErrorCode } from '../../base/index.js';
import { makeFolder, makeFolderBelow, withFolder } from '../../base/files/index.js';
import { ARTIFACT_FOLDER, getIncomingPath, getRunFolderPath, isArtifactPath } from '../../runs/run-folder/index.js';
import { RequestError } from '../http/problem.js';

/** The files of a run that workers upload besides artifacts: recorded bytes and the result. Derived logs are derived again here. */
const RUN_FILE =
  /^(?:\.audit\/(?:[\w-]{1,40}\.\d{1,6}\.(?:log|jsonl|json))|work_(?:order\.json|result\.(?:json|txt)))$/u;

/** No part of the path is empty or the folder itself. */
const ARTIFACT = new RegExp(`^\\${ARTIFACT_FOLDER}(?:/(?!\\.?(?:/|$))[^/]+)+$`, 'u');

/** The maximum size of an uploaded file: larger than what a run may record by default. */
const MAX_FILE_BYTES = 4 * 1024 * 1024 * 1024;

/** Bytes of a file, in base64. */
interface RunBytes {
  readonly path: string;
  readonly offset: number;
  readonly data: string;
}

/**
 * Writes bytes to a file of a run folder, at its end; an offset of 0 replaces the file. Returns the size of the file: if
 * it is not what the worker expects, nothing was written, and the worker continues from there.
 */
export async function writeRunBytes(data: string, id: string, { path, offset, data: sent }: RunBytes): Promise<number> {
  const isArtifact = ARTIFACT.test(path) && isArtifactPath(path);
  if ((!isArtifact && !RUN_FILE.test(path)) || offset > MAX_FILE_BYTES)
    throw new RequestError('INVALID_BODY', 'Invalid body: path: not a file that workers upload.');
  const file = join(getRunFolderPath(data, id), path);
  if (offset === 0) await markIncoming(data, id);
  const handle = await openUpload(file, data, offset === 0 ? constants.O_TRUNC : 0).catch((error: unknown) => {
    if (!UNUSABLE_NAME.has(getErrorCode(error) ?? '')) throw error;
    throw new RequestError('INVALID_BODY', 'Invalid body: path: not the name of a file.', { cause: error });
  });
  try {
    const { size } = await handle.stat();
    if (size !== offset) return size;
    const bytes = Buffer.from(sent, 'base64');
    await handle.write(bytes, 0, bytes.length, offset);
    return offset + bytes.length;
  } finally {
    await handle.close();
  }
}

/** The errors of names that are too long, and of files that are folders, or are below another file. */
const UNUSABLE_NAME: ReadonlySet<string> = new Set([
  'EISDIR',
  'ENOTDIR',
  'ENAMETOOLONG',
  'EEXIST',
  'ELOOP',
  'UNSAFE_FILE',
]);

async function openUpload(file: string, data: string, more: number): Promise<FileHandle> {
  await makeFolderBelow(dirname(file), data);
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | more;
  return withFolder(
    dirname(file),
    { trustedRoot: data },
    {
      work: async (folder) => open(join(folder, basename(file)), flags, 0o600),
      undo: async (opened) => opened.close(),
    },
  );
}

/** Marks a run folder as incomplete: another server could have the rest, if the worker was sent there meanwhile. */
async function markIncoming(data: string, id: string): Promise<void> {
  const path = getIncomingPath(data, id);
  await makeFolder(dirname(path));
  await writeFile(path, '', { flag: 'a', mode: 0o600 });
}

/** Marks a run folder as complete: the worker sends the end of a run last. */
export async function completeRunFiles(data: string, id: string): Promise<void> {
  await rm(getIncomingPath(data, id), { force: true });
}
