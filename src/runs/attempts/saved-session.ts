import { lstat, opendir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import {
  SluiceError,
  arrayOf,
  count,
  flag,
  getErrorMessage,
  isSluiceError,
  object,
  text,
  type FromSchema,
  type ReadableFile,
} from '../../base/index.js';
import {
  beginReplacement,
  makeFolder,
  makeFolderBelow,
  openForReading,
  openInside,
  parseJson,
  removeFolder,
  withFolder,
} from '../../base/files/index.js';
import { readContent } from '../cache/cached-result.js';
import { fromRecordSchema } from '../../json/schema/index.js';
import { selectAgentEnvironment } from '../launch/prepare-launch.js';
import { getHomeFolder } from '../placement/run-container.js';
import { AUDIT_FOLDER, isArtifactPath, isWorkPath, listAuditFiles } from '../run-folder/index.js';
import type { SavedSession } from '../ports/run-ports.js';
import type { RunContext } from './run-context.js';

/*
 * A saved session is what another worker needs to resume a run that waits for an answer: the recorded bytes (`run/`),
 * the files of the engine's session (`state/<number of the state folder>/`) and what the agent has changed in its
 * working folder (`work/`). It is the length of a header in four bytes, the header as JSON, and the files one after
 * another. Any worker could have written it, so every path is checked before a file is written.
 */

const fileSchema = object({ path: text, size: count, executable: flag });
type SavedFile = FromSchema<typeof fileSchema>;

const headerSchema = object({
  session: text,
  workdir: text,
  /** Files in the working folder that the agent has deleted. */
  deleted: arrayOf(text),
  files: arrayOf(fileSchema),
});
type Header = FromSchema<typeof headerSchema>;
const headerValidator = fromRecordSchema<Header>(headerSchema);

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_FILES = 1000;
const MAX_HEADER_BYTES = 1024 * 1024;
/** The entries of state folders that are looked at: a home folder can have the sessions of many runs. */
const MAX_ENTRIES = 50_000;
const MAX_DEPTH = 8;
/** Long enough that no other file has it in its name by chance. */
const SESSION_ID = /^(?=.*\d)[\w-]{16,128}$/;
const RUN_FILE = /^run\/\.audit\/[\w-]{1,40}\.\d{1,6}\.(?:log|jsonl|json)$/u;
const STATE_FILE = /^state\/(?<number>\d)\/(?<path>.+)$/u;

type SessionContext = Pick<RunContext, 'id' | 'spec' | 'launcher' | 'ports' | 'runDir'>;

/** Reads what another worker needs to resume a run. Its process must have exited. */
export async function collectSession(
  context: SessionContext & Pick<RunContext, 'progress' | 'warnings'>,
  workdir: string,
): Promise<SavedSession> {
  const { launcher, runDir } = context;
  const { artifacts, sessionId: session } = context.progress;
  if (session === null || !launcher.canResume || !SESSION_ID.test(session))
    return { reason: `${launcher.engine} has no session that can be resumed` };
  if (context.warnings.has('ARTIFACTS_INCOMPLETE')) return { reason: 'its working folder has too many files' };
  try {
    const pieces: { readonly file: SavedFile; readonly bytes: Uint8Array }[] = [];
    let left = MAX_BYTES;
    const add = async (path: string, handle: ReadableFile | undefined): Promise<void> => {
      const content = await readContent(handle, pieces.length === MAX_FILES ? -1 : left);
      if (content === 'missing') throw new NotSavedError(`"${path}" is not a regular file`);
      if (content === 'too large') throw new NotSavedError(`it has more than ${MAX_FILES} files or ${MAX_BYTES} bytes`);
      const { bytes, executable } = content;
      left -= bytes.length;
      pieces.push({ file: { path, size: bytes.length, executable }, bytes });
    };
    let sessionFiles = 0;
    for (const [number, { folder, paths }] of listSessionFolders(context).entries()) {
      for await (const path of findSessionFiles(folder, paths, session)) {
        await add(`state/${number}/${path}`, await openForReading(join(folder, path), { trustedRoot: folder }));
        sessionFiles += 1;
      }
    }
    if (sessionFiles === 0) return { reason: `the files of its session with ${launcher.engine} are not known` };
    for (const file of await listAuditFiles(runDir, { trustedRoot: getData(runDir) }))
      await add(`run/${file.path}`, await file.open());
    for (const path of [...artifacts.created, ...artifacts.modified])
      await add(`work/${path}`, await openInside(workdir, path));
    const header: Header = { session, workdir, deleted: artifacts.deleted, files: pieces.map(({ file }) => file) };
    const encoded = Buffer.from(JSON.stringify(header));
    if (encoded.length > MAX_HEADER_BYTES) return { reason: 'the names of its files are too long' };
    const length = Buffer.alloc(4);
    length.writeUInt32BE(encoded.length);
    return { bytes: Buffer.concat([length, encoded, ...pieces.map(({ bytes }) => bytes)]) };
  } catch (error) {
    if (error instanceof NotSavedError || isSluiceError(error)) return { reason: getErrorMessage(error) };
    throw error;
  }
}

class NotSavedError extends Error {}

/**
 * Writes a saved session to this host: replaces the recorded bytes, and writes the session and the changed files. In a
 * folder that does not belong to the run alone, changed files must be there already. Throws `SESSION_LOST`.
 */
export async function restoreSession(
  context: SessionContext,
  bytes: Uint8Array,
  { workdir, ownsFolder }: { readonly workdir: string; readonly ownsFolder: boolean },
): Promise<void> {
  const { runDir } = context;
  const { header, contents } = readSession(bytes);
  const { session, files, deleted } = header;
  const states = listSessionFolders(context);
  const writes = files.map((file, index): WrittenFile => {
    const content = contents[index] ?? Buffer.alloc(0);
    if (RUN_FILE.test(file.path))
      return { ...file, content, root: getData(runDir), target: join(runDir, file.path.slice(4)), isWork: false };
    if (file.path.startsWith('work/') && isWorkPath(file.path.slice(5)))
      return { ...file, content, root: workdir, target: join(workdir, file.path.slice(5)), isWork: true };
    const { number = '', path = '' } = STATE_FILE.exec(file.path)?.groups ?? {};
    const state = states[Number(number)];
    if (state === undefined || !isArtifactPath(path) || !path.includes(session) || !isKept(state.paths, path))
      throw createSessionLostError(`it contains "${file.path.slice(0, 200)}", which is no part of a session`);
    // Some engines name the folder of a project after its path.
    const moved = path
      .split('/')
      .map((part) => (part === slugify(header.workdir) ? slugify(workdir) : part))
      .join('/');
    return { ...file, content, root: state.folder, target: join(state.folder, moved), isWork: false };
  });
  if (!deleted.every(isWorkPath)) throw createSessionLostError('it deletes files outside the working folder');
  if (!ownsFolder) {
    const isDifferent = async ({ target, content, isWork }: WrittenFile): Promise<boolean> =>
      isWork && !(await hasContent(workdir, target.slice(workdir.length + 1), content));
    for (const write of writes)
      if (await isDifferent(write))
        throw createSessionLostError(
          `"${write.target}" is not there as the agent left it. Use a folder that workers share`,
        );
  }
  await removeFolder(join(runDir, AUDIT_FOLDER));
  for (const write of writes) if (ownsFolder || !write.isWork) await writeContent(write);
  for (const path of ownsFolder ? deleted : []) {
    const target = join(workdir, path);
    const work = async (folder: string) => rm(join(folder, basename(target)), { force: true });
    await withFolder(dirname(target), { trustedRoot: workdir }, { work }).catch((error: unknown) => {
      if (isSluiceError(error)) throw error;
    });
  }
}

interface WrittenFile extends SavedFile {
  readonly content: Uint8Array;
  /** No link below this folder is followed. */
  readonly root: string;
  readonly target: string;
  readonly isWork: boolean;
}

async function writeContent({ root, target, content, executable, isWork }: WrittenFile): Promise<void> {
  await makeFolder(root);
  await makeFolderBelow(dirname(target), root, isWork ? 0o777 : 0o700);
  const replacement = await beginReplacement(target, { trustedRoot: root, isDurable: false });
  try {
    await replacement.file.writeFile(content);
    if (executable) await replacement.file.chmod(0o755);
    await replacement.commit();
  } finally {
    await replacement.discard();
  }
}

async function hasContent(workdir: string, path: string, expected: Uint8Array): Promise<boolean> {
  const found = await readContent(await openInside(workdir, path), expected.length);
  return typeof found !== 'string' && found.bytes.equals(expected);
}

/** Splits a saved session into its files; throws `SESSION_LOST` if it is damaged or too large. */
function readSession(bytes: Uint8Array): { readonly header: Header; readonly contents: readonly Uint8Array[] } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headerEnd = buffer.length < 4 ? 0 : 4 + buffer.readUInt32BE(0);
  const isLong = headerEnd > 4 + MAX_HEADER_BYTES || headerEnd > buffer.length;
  const checked = headerValidator['~standard'].validate(
    isLong ? undefined : parseJson(buffer.subarray(4, headerEnd).toString()),
  );
  if (checked instanceof Promise || checked.issues !== undefined) throw createSessionLostError('it is damaged');
  const header = checked.value;
  if (!SESSION_ID.test(header.session) || header.files.length > MAX_FILES)
    throw createSessionLostError('it is damaged');
  let at = headerEnd;
  const contents = header.files.map(({ size }) => buffer.subarray(at, (at += size)));
  if (at !== buffer.length) throw createSessionLostError('it is damaged');
  return { header, contents };
}

/** The folders of an engine's state that persist, and which of their paths do; `''` is the whole folder. */
interface SessionFolder {
  readonly folder: string;
  readonly paths: readonly string[];
}

function listSessionFolders(context: SessionContext): readonly SessionFolder[] {
  const { launcher, ports, spec, runDir } = context;
  // The home folder of the agent's container in a pod is not visible to the worker.
  if (ports.sandbox.sidecar !== undefined) return [];
  const env: Readonly<Record<string, string>> =
    spec.placement === 'container' ? { HOME: getHomeFolder(runDir) } : selectAgentEnvironment(context);
  return (launcher.listStateFolders?.(env) ?? []).map(({ folder, keep }) => ({
    folder,
    paths: keep.filter((name) => name.endsWith('/')).map((name) => (name === '/' ? '' : name)),
  }));
}

/** Finds the files of one session: those with its id in their path. Links are not followed. */
async function* findSessionFiles(folder: string, paths: readonly string[], session: string): AsyncGenerator<string> {
  let left = MAX_ENTRIES;
  async function* walk(path: string, depth: number): AsyncGenerator<string> {
    const found = await lstat(join(folder, path)).catch(() => undefined);
    if (found?.isDirectory() !== true || depth > MAX_DEPTH) return;
    for await (const entry of await opendir(join(folder, path))) {
      if (left === 0) throw new NotSavedError(`"${folder}" has more than ${MAX_ENTRIES} files`);
      left -= 1;
      if (entry.isDirectory()) yield* walk(`${path}${entry.name}/`, depth + 1);
      else if (entry.isFile() && `${path}${entry.name}`.includes(session)) yield `${path}${entry.name}`;
    }
  }
  for (const path of paths) yield* walk(path, 0);
}

function isKept(paths: readonly string[], path: string): boolean {
  return paths.some((kept) => path.startsWith(kept));
}

function getData(runDir: string): string {
  return dirname(dirname(runDir));
}

function slugify(path: string): string {
  return path.replaceAll(/[^a-zA-Z0-9]/g, '-');
}

export function createSessionLostError(reason: string): SluiceError {
  return new SluiceError('SESSION_LOST', `The saved session cannot be restored: ${reason}. Start a new run.`);
}
