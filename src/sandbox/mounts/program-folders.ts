import { open, readlink, realpath, stat, lstat } from 'node:fs/promises';
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { findExecutable } from '../../files/index.js';
import type { Mount } from './mount.js';
import { isWithin } from './mount.js';
import { isBroad, isInSystem } from './system-folders.js';

/**
 * Where to look for executables; the working folder and the home folder are never mounted as part of an installation.
 */
export interface ProgramSearch {
  /** The entries of PATH inside the sandbox. */
  readonly path: string;
  readonly cwd: string;
  readonly home: string;
}

/** Scripts named in a command are mounted with their package; other files are mounted alone. */
const SCRIPT = /\.(?:[cm]?[jt]s|py|rb|pl|sh)$/;

/** The maximum length of chains of links and interpreters. */
const MAX_STEPS = 8;

/**
 * Finds the folders to mount read-only so that a command can start: the folders in PATH, the folders where its
 * executable and interpreter are installed, and the packages of scripts named by their full path. The command must come
 * from the caller, never from an agent.
 *
 * @example
 * await findProgramFolders(['codex'], { path, cwd, home }) // [{ kind: 'read', at: '/home/me/.nvm/versions/node/v20.19.0', … }]
 */
export async function findProgramFolders(command: readonly string[], search: ProgramSearch): Promise<readonly Mount[]> {
  const mounted = new Map<string, string>();
  const mount = (path: string, from = path): void => {
    if (!isInSystem(path) && !isWithin(path, search.cwd)) mounted.set(path, from);
  };
  const folders = search.path.split(delimiter).filter(isAbsolute);
  const realFolders = await Promise.all(folders.map(async (folder) => realpath(folder).catch(() => undefined)));
  for (const [index, folder] of folders.entries()) {
    const real = realFolders[index];
    if (real === undefined || isBroad(folder, search.home) || isBroad(real, search.home)) continue;
    mount(folder, real);
    mount(real);
  }
  const [program = '', ...args] = command;
  await mountProgram(program, search, mount, MAX_STEPS);
  for (const word of args) {
    if (!isAbsolute(word) || !(await isFile(word))) continue;
    if (SCRIPT.test(word)) await mountFile(word, search, mount);
    else mount(word);
  }
  return [...mounted].map(([at, from]) => ({ kind: 'read', at, from }));
}

async function mountProgram(
  program: string,
  search: ProgramSearch,
  mount: (path: string) => void,
  steps: number,
): Promise<void> {
  const file = await findExecutable(program, search);
  if (file === undefined || steps === 0) return;
  await mountFile(file, search, mount);
  for (const interpreter of await readInterpreter(file)) await mountProgram(interpreter, search, mount, steps - 1);
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

/** Mounts a file, the links that lead to it, and the folder it was installed with. */
async function mountFile(file: string, search: ProgramSearch, mount: (path: string) => void): Promise<void> {
  // An agent could have written to the working folder, so links there are not followed.
  if (isWithin(file, search.cwd)) return;
  let at = file;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const target = await readlink(at).catch(() => undefined);
    if (target === undefined) break;
    mount(isBroad(dirname(at), search.home) ? at : dirname(at));
    at = resolve(dirname(at), target);
  }
  const real = await realpath(file).catch(() => undefined);
  if (real === undefined) return;
  const folder = await findInstallation(real, search.home);
  mount(folder ?? real);
  if (folder === undefined) return;
  // The installation's `node_modules` can be a link to another folder.
  const modules = join(folder, 'node_modules');
  const isLink = (await lstat(modules).catch(() => undefined))?.isSymbolicLink() ?? false;
  const target = isLink ? await realpath(modules).catch(() => undefined) : undefined;
  if (target !== undefined && !isBroad(target, search.home)) mount(target);
}

/** Finds the folder a file was installed with; undefined if it contains far more than one installation. */
async function findInstallation(real: string, home: string): Promise<string | undefined> {
  const steps = real.split('/');
  const modules = steps.indexOf('node_modules');
  const candidates = [
    ...(modules > 0 ? [steps.slice(0, modules + 1).join('/')] : []),
    ...(await findPackage(real, home)),
    // The parent of `bin`, but not ~/.local, which many installations share.
    ...(basename(dirname(real)) === 'bin' && basename(dirname(dirname(real))) !== '.local'
      ? [dirname(dirname(real))]
      : []),
    dirname(real),
  ];
  return candidates.find((folder) => !isBroad(folder, home));
}

/** Finds a script's package folder. */
async function findPackage(real: string, home: string): Promise<string[]> {
  for (let folder = dirname(real); !isBroad(folder, home); folder = dirname(folder)) {
    if (await isFile(join(folder, 'package.json'))) return [folder];
  }
  return [];
}

/** Parses the interpreter from a script's first line; for `#!/usr/bin/env node`, returns both executables. */
async function readInterpreter(file: string): Promise<string[]> {
  const handle = await open(file, 'r').catch(() => undefined);
  if (handle === undefined) return [];
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(256), 0, 256, 0);
    const line = /^#!([^\n]*)/.exec(buffer.toString('latin1', 0, bytesRead))?.[1];
    const [interpreter = '', ...args] = line?.trim().split(/\s+/) ?? [];
    if (interpreter === '') return [];
    const named = basename(interpreter) === 'env' ? args.find((word) => !/^-|=/.test(word)) : undefined;
    return named === undefined ? [interpreter] : [interpreter, named];
  } finally {
    await handle.close();
  }
}
