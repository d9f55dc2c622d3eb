import { stat, chmod, lstat, readdir, rm, access, opendir } from 'node:fs/promises';
import { dirname, join, basename, isAbsolute, resolve, delimiter } from 'node:path';
import {
  constants,
  type Dirent,
  lstatSync,
  mkdirSync,
  opendirSync,
  realpathSync,
  rmdirSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { getErrorCode, SluiceError } from '../index.js';
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { createRequire } from 'node:module';
import { isThere } from './safe-folder.js';

/** Sluice's folders are accessible only to the user that runs it. */
const MODE = 0o700;

/**
 * Creates a folder and its missing parents, accessible only to this user; an existing folder stays unchanged. Does not
 * use `mkdir` with `recursive: true`: if a folder exists and nothing can be created in it (`/proc`), Node.js retries
 * forever.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    createSingleFolder(path);
  } catch (error) {
    const parent = dirname(path);
    if (getErrorCode(error) !== 'ENOENT' || parent === path) throw error;
    await makeFolder(parent);
    createSingleFolder(path);
  }
}

/** Synchronous, like the other calls that take microseconds and are made for every run. */
function createSingleFolder(path: string): void {
  if (isFolder(path)) return;
  try {
    mkdirSync(path, MODE);
  } catch (error) {
    // Another process might have created it first.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

/**
 * Removes a folder and everything in it; a missing folder is ignored, and links are not followed. Some tools create
 * folders without write permission (for example Go's module cache), which cannot be emptied: they are made writable if
 * the removal fails.
 */
export async function removeFolder(path: string): Promise<void> {
  if (removeSmallFolder(path, MAX_SYNC_ENTRIES) !== undefined) return;
  const remove = async (): Promise<void> => rm(path, { recursive: true, force: true });
  await remove().catch(async (error: unknown) => {
    const code = getErrorCode(error);
    if (code !== 'EACCES' && code !== 'EPERM') throw error;
    await makeWritable(path);
    await remove();
  });
}

/** More entries are removed by the thread pool: the event loop must not wait for them. */
const MAX_SYNC_ENTRIES = 64;

/**
 * Removes a folder with few entries synchronously; returns how many more it could have removed. Returns undefined if it
 * has more entries or anything fails; part of it can be gone then.
 */
function removeSmallFolder(path: string, maxEntries: number): number | undefined {
  try {
    if (!lstatSync(path).isDirectory()) return undefined;
    const entries: Dirent[] = [];
    const folder = opendirSync(path);
    try {
      for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
        entries.push(entry);
        if (entries.length > maxEntries) return undefined;
      }
    } finally {
      folder.closeSync();
    }
    let left: number | undefined = maxEntries - entries.length;
    for (const entry of entries) {
      const entryPath = join(path, entry.name);
      if (!entry.isDirectory()) unlinkSync(entryPath);
      else left = removeSmallFolder(entryPath, left);
      if (left === undefined) return undefined;
    }
    rmdirSync(path);
    return left;
  } catch {
    return undefined;
  }
}

const OWNER_ACCESS = 0o700;

async function makeWritable(path: string): Promise<void> {
  const found = await lstat(path);
  if (!found.isDirectory()) return;
  if ((found.mode & OWNER_ACCESS) !== OWNER_ACCESS) await chmod(path, (found.mode & 0o777) | OWNER_ACCESS);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await makeWritable(join(path, entry.name));
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it cannot be created',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'its file system is read-only',
  ENOSPC: 'no space left on device',
  EDQUOT: 'disk quota exceeded',
  ENOTDIR: 'part of its path is a file',
  EEXIST: 'it is a file',
};

/** Creates a data folder if it is missing, and checks that it is writable. Throws `DATA_FOLDER_UNUSABLE`. */
export async function prepareDataFolder(path: string): Promise<void> {
  try {
    await makeFolder(path);
    await access(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = getErrorCode(error) ?? 'unknown error';
    const message = `Cannot write to the data folder "${path}": ${REASONS[code] ?? code}. Fix that, or choose another folder with --data or SLUICE_DATA.`;
    throw new SluiceError('DATA_FOLDER_UNUSABLE', message, { cause: error });
  }
}

/** Lists the names that `choose` returns for a folder's entries, in groups of at most `size`. */
export async function* listNames(
  folder: string,
  size: number,
  choose: (entry: Dirent) => string | undefined,
): AsyncGenerator<readonly string[]> {
  let names: string[] = [];
  try {
    for await (const entry of await opendir(folder)) {
      const name = choose(entry);
      if (name === undefined) continue;
      names.push(name);
      if (names.length < size) continue;
      yield names;
      names = [];
    }
  } catch (error) {
    if (getErrorCode(error) !== 'ENOENT') throw error;
  }
  if (names.length > 0) yield names;
}

export async function listFirstNames(
  folder: string,
  max: number,
  choose: (entry: Dirent) => string | undefined,
): Promise<readonly string[]> {
  for await (const names of listNames(folder, max, choose)) return names;
  return [];
}

/** Chooses folders, but not links to folders, which could point to someone else's data. */
export function chooseFolder(entry: Dirent): string | undefined {
  return entry.isDirectory() ? entry.name : undefined;
}

/** Whether anything exists at this path, including a dangling link. A path that cannot be read counts as absent. */
export async function isPresent(path: string): Promise<boolean> {
  try {
    return isThere(path);
  } catch {
    return false;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the user's Sluice folder: data of all projects, trusted configurations, the local token. It is in `XDG_DATA_HOME`, or
 * in `~/.local/share`.
 *
 * @example
 * findUserFolder(process.env) // '/home/ada/.local/share/sluice'
 */
export function findUserFolder(env: Environment): string {
  const dataHome = env['XDG_DATA_HOME'] ?? '';
  // According to the XDG specification, a relative path is invalid and must be ignored.
  if (isAbsolute(dataHome)) return join(dataHome, 'sluice');
  const home = env['HOME'] ?? '';
  return join(isAbsolute(home) ? home : homedir(), '.local', 'share', 'sluice');
}

/**
 * Returns the default data folder for library calls: `SLUICE_DATA`, or else the data folder of the project in the
 * current folder.
 *
 * @example
 * findDataFolder() // '/home/ada/.local/share/sluice/projects/shop-1f0c9a3b5d7e2468'
 */
export function findDataFolder(cwd: string = process.cwd(), env: Environment = process.env): string {
  const configured = env['SLUICE_DATA'] ?? '';
  return configured === '' ? findProjectData(cwd, env) : resolve(cwd, configured);
}

/** Returns the data folder for a library call: the one passed in, or else the default. */
export function chooseDataFolder(chosenPath: string | undefined): string {
  return chosenPath === undefined ? findDataFolder() : resolve(chosenPath);
}

/** Returns a project's data folder. It is outside the project, so an agent working there cannot write to it. */
export function findProjectData(cwd: string, env: Environment): string {
  const project = findRealPath(cwd);
  return join(findUserFolder(env), 'projects', nameProject(project));
}

/** A recognisable name, with a hash that distinguishes projects with the same name. */
function nameProject(project: string): string {
  const name = basename(project)
    .replaceAll(/[^\w.-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 40);
  const hash = createHash('sha256').update(project).digest('hex').slice(0, 16);
  return `${name === '' ? 'project' : name}-${hash}`;
}

function findRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/** Finds an executable as the system would: on the PATH, or by its path relative to the working folder. */
export async function findExecutable(
  program: string,
  { path, cwd }: { readonly path: string; readonly cwd: string },
): Promise<string | undefined> {
  const isPath = program.includes('/') || (process.platform === 'win32' && program.includes('\\'));
  const folders = isPath || isAbsolute(program) ? [cwd] : path.split(delimiter).filter((folder) => folder !== '');
  const extensions = process.platform === 'win32' ? ['', '.exe', '.cmd', '.bat'] : [''];
  for (const folder of folders) {
    for (const extension of extensions) {
      const file = isAbsolute(program)
        ? `${program}${extension}`
        : join(resolve(cwd, folder), `${program}${extension}`);
      if (await isExecutable(file)) return file;
    }
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

// This path is correct in both `src/base/files` and `dist/base/files`.
const MANIFEST = createRequire(import.meta.url)('../../../package.json') as Readonly<
  Record<'version' | 'homepage', string>
>;

/** The version of this package. */
export const VERSION = MANIFEST.version;

/** Returns the address that describes an error code; undefined until the manifest's `homepage` is the site. */
export function findCodePage(code: string, homepage = MANIFEST.homepage): string | undefined {
  const isSite = homepage.endsWith('/') && !/\bexample\.(?:org|com|net)\b/.test(homepage);
  return isSite ? `${homepage}errors/#${code}` : undefined;
}
