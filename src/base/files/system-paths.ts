import { createHash } from 'node:crypto';
import { realpathSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { basename, isAbsolute, join, resolve, delimiter } from 'node:path';
import { access, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';

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
export function findDataFolder(
  cwd: string = process.cwd(),
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  const configured = env['SLUICE_DATA'] ?? '';
  return configured === '' ? findProjectData(cwd, env) : resolve(cwd, configured);
}

/** Returns the data folder for a library call: the one passed in, or else the default. */
export function chooseDataFolder(chosenPath: string | undefined): string {
  return chosenPath === undefined ? findDataFolder() : resolve(chosenPath);
}

/**
 * Returns a project's data folder, one per real path. It is outside the project, so an agent working there cannot write
 * Sluice's own files.
 */
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

/**
 * Finds an executable as the system would: a name on the PATH, or a path relative to the working folder. Returns
 * undefined if none is found.
 *
 * @example
 * await findExecutable('codex', { path: process.env.PATH ?? '', cwd: process.cwd() }) // '/usr/local/bin/codex'
 */
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

/** The version of this package. */
export const VERSION = readVersion();

function readVersion(): string {
  // This path is correct in both `src/base/files` and `dist/base/files`.
  const manifest: unknown = createRequire(import.meta.url)('../../../package.json');
  const isManifest = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return isManifest ? String(manifest.version) : 'unknown';
}
