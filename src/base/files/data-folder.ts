import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** The default data folder of a project. */
export interface DataFolder {
  /** An absolute path. */
  readonly path: string;
  /** A warning about this choice for the user, or undefined. */
  readonly warning: string | undefined;
}

/** Earlier versions stored their data in this folder of the project, where agents can write. */
const LEGACY_NAME = '.sluice';

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
 * Returns the default data folder for library calls: `SLUICE_DATA`, or else the data folder of the project in the current folder.
 *
 * @example
 * findDataFolder().path // '/home/ada/.local/share/sluice/projects/shop-1f0c9a3b5d7e2468'
 */
export function findDataFolder(cwd: string = process.cwd(), env: Environment = process.env): DataFolder {
  const configured = env['SLUICE_DATA'] ?? '';
  return configured === '' ? findProjectData(cwd, env) : { path: resolve(cwd, configured), warning: undefined };
}

/**
 * Returns the data folder for a library call: the one passed in, or else the default.
 *
 * @example
 * chooseDataFolder(undefined, (warning) => logger.warn(warning)) // like findDataFolder().path
 */
export function chooseDataFolder(
  chosenPath: string | undefined,
  warn: (warning: string) => void = () => undefined,
): string {
  if (chosenPath !== undefined) return resolve(chosenPath);
  const { path, warning } = findDataFolder();
  if (warning !== undefined) warn(warning);
  return path;
}

/**
 * Returns a project's data folder, one per real path. It is outside the project, so an agent working there cannot write
 * Sluice's own files. A `.sluice` folder of an earlier version is used until this one exists.
 */
export function findProjectData(cwd: string, env: Environment): DataFolder {
  const project = findRealPath(cwd);
  const path = join(findUserFolder(env), 'projects', nameProject(project));
  const legacyFolder = join(project, LEGACY_NAME);
  if (existsSync(path) || !existsSync(legacyFolder)) return { path, warning: undefined };
  const refusal = explainRefusal(project, legacyFolder);
  if (refusal !== undefined) {
    return { path, warning: `"${legacyFolder}" is not used for data: ${refusal}. Using "${path}".` };
  }
  const warning = `Using the data folder "${legacyFolder}", where agents can write. Move it out of their reach while no Sluice process is running: mkdir -p "${dirname(path)}" && mv "${legacyFolder}" "${path}"`;
  return { path: legacyFolder, warning };
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

/**
 * Returns why an old data folder must not be used. Its queue would be executed, so it must not come from another user.
 */
function explainRefusal(project: string, legacyFolder: string): string | undefined {
  const stats = lstatSync(legacyFolder);
  if (!stats.isDirectory()) return 'it is not a folder, and links are not followed';
  if (process.getuid !== undefined && stats.uid !== process.getuid()) return 'it belongs to another user';
  return isTracked(project) ? 'git tracks it, so it came with the repository' : undefined;
}

/** Larger than the index of even the largest repositories. */
const MAX_INDEX_BYTES = 512 * 1024 * 1024;

/**
 * Whether git tracks anything in the old data folder. The index is read directly, because git would execute commands that
 * the repository configures. If the repository or its index cannot be read, the folder counts as tracked.
 */
function isTracked(project: string): boolean {
  try {
    const repository = findRepository(project);
    if (repository === undefined) return false;
    const index = join(repository.gitDirectory, 'index');
    if (!existsSync(index)) return false;
    const legacyFolder = [...relative(repository.top, project).split(sep), LEGACY_NAME].filter(Boolean).join('/');
    if (statSync(index).size > MAX_INDEX_BYTES) return true;
    return listIndexPaths(readFileSync(index)).some(
      (path) => path === legacyFolder || path.startsWith(`${legacyFolder}/`),
    );
  } catch {
    return true;
  }
}

const HASH_BYTES = { sha1: 20, sha256: 32 } as const;
/** Offset of the hash in an entry: times, mode, owner and size of the file come first. */
const HASH_OFFSET = 40;
const IS_EXTENDED = 0x4000;

/** Finds the hash length of an index from its trailing checksum, which is all zeros if git was configured to omit it. */
function findHashBytes(index: Buffer): number {
  const stats = (['sha256', 'sha1'] as const).find((algorithm) => {
    const end = index.subarray(-HASH_BYTES[algorithm]);
    const hash = createHash(algorithm).update(index.subarray(0, -end.length)).digest();
    return end.equals(hash) || end.every((byte) => byte === 0);
  });
  if (stats === undefined) throw new Error('damaged index');
  return HASH_BYTES[stats];
}

/** The paths in an index of version 2 or 3; throws for other versions and for a split index. */
function listIndexPaths(index: Buffer): string[] {
  const hashBytes = findHashBytes(index);
  const version = index.readUInt32BE(4);
  if (index.toString('latin1', 0, 4) !== 'DIRC' || (version !== 2 && version !== 3)) throw new Error('unknown index');
  const paths: string[] = [];
  let at = 12;
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    const flagsAt = at + HASH_OFFSET + hashBytes;
    const isExtended = (index.readUInt16BE(flagsAt) & IS_EXTENDED) !== 0;
    const start = flagsAt + (isExtended ? 4 : 2);
    const end = index.indexOf(0, start);
    if (end <= start) throw new Error('damaged index');
    paths.push(index.toString('utf8', start, end));
    // Entries end with one to eight zero bytes, so the next starts at a multiple of eight.
    at += (end - at + 8) & ~7;
  }
  for (; at < index.length - hashBytes; at += 8 + index.readUInt32BE(at + 4)) {
    const extension = index.toString('latin1', at, at + 4);
    if (!/^[A-Z]/.test(extension)) throw new Error('split index');
  }
  return paths;
}

function findRepository(project: string): { readonly top: string; readonly gitDirectory: string } | undefined {
  for (let top = project; ; top = dirname(top)) {
    const git = join(top, '.git');
    const stats = statSync(git, { throwIfNoEntry: false });
    if (stats?.isDirectory() === true) return { top, gitDirectory: git };
    if (stats?.isFile() === true && stats.size < 64 * 1024) {
      const linked = /^gitdir: (?<path>.+)$/m.exec(readFileSync(git, 'utf8'))?.groups?.['path'];
      if (linked !== undefined) return { top, gitDirectory: resolve(top, linked) };
    }
    if (dirname(top) === top) return undefined;
  }
}
