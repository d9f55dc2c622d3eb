import { open, readlink, realpath, stat, lstat } from 'node:fs/promises';
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { findProgram } from '../../files/index.js';
import type { Mount } from './mount.js';
import { isWithin } from './mount.js';
import { isBroad, isInSystem } from './system-folders.js';

/** Where programs are looked for, and which folders they must not open. */
export interface ProgramPlaces {
  /** The entries of PATH inside the sandbox. */
  readonly path: string;
  readonly cwd: string;
  readonly home: string;
}

/** For other files that a command names, only the file itself is mounted. */
const SCRIPT = /\.(?:[cm]?[jt]s|py|rb|pl|sh)$/;

/** A link that leads to a link, an interpreter of an interpreter. */
const MAX_STEPS = 8;

/**
 * Finds the folders to mount read-only so that a program can start: the folders of PATH, where the program and its
 * interpreter are installed, and the packages of scripts that are named by their full path. The arguments must come from
 * the caller, never from an agent.
 *
 * @example
 * await findProgramFolders(['codex'], { path, cwd, home }) // [{ kind: 'read', at: '/home/me/.nvm/versions/node/v20.19.0', … }]
 */
export async function findProgramFolders(words: readonly string[], places: ProgramPlaces): Promise<readonly Mount[]> {
  const shown = new Map<string, string>();
  const show = (path: string, from = path): void => {
    if (!isInSystem(path) && !isWithin(path, places.cwd)) shown.set(path, from);
  };
  const named = places.path.split(delimiter).filter(isAbsolute);
  const found = await Promise.all(named.map(async (folder) => realpath(folder).catch(() => undefined)));
  for (const [index, folder] of named.entries()) {
    const real = found[index];
    if (real === undefined || isBroad(folder, places.home) || isBroad(real, places.home)) continue;
    show(folder, real);
    show(real);
  }
  const [program = '', ...rest] = words;
  await showProgram(program, places, show, MAX_STEPS);
  for (const word of rest) {
    if (!isAbsolute(word) || !(await isFile(word))) continue;
    if (SCRIPT.test(word)) await showFile(word, places, show);
    else show(word);
  }
  return [...shown].map(([at, from]) => ({ kind: 'read', at, from }));
}

async function showProgram(
  program: string,
  places: ProgramPlaces,
  show: (path: string) => void,
  steps: number,
): Promise<void> {
  const file = await findProgram(program, places);
  if (file === undefined || steps === 0) return;
  await showFile(file, places, show);
  for (const interpreter of await readInterpreter(file)) await showProgram(interpreter, places, show, steps - 1);
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

/** Shows a file, the links on the way to it, and what it was installed with. */
async function showFile(file: string, places: ProgramPlaces, show: (path: string) => void): Promise<void> {
  // An agent may have written to the working folder: links there are not followed.
  if (isWithin(file, places.cwd)) return;
  let at = file;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const target = await readlink(at).catch(() => undefined);
    if (target === undefined) break;
    show(isBroad(dirname(at), places.home) ? at : dirname(at));
    at = resolve(dirname(at), target);
  }
  const real = await realpath(file).catch(() => undefined);
  if (real === undefined) return;
  const folder = await findInstallation(real, places.home);
  show(folder ?? real);
  if (folder === undefined) return;
  // Packages may be elsewhere, behind a link in the installation.
  const modules = join(folder, 'node_modules');
  const isLink = (await lstat(modules).catch(() => undefined))?.isSymbolicLink() ?? false;
  const target = isLink ? await realpath(modules).catch(() => undefined) : undefined;
  if (target !== undefined && !isBroad(target, places.home)) show(target);
}

/** The folder a file was installed with; undefined if that would show far more than one program. */
async function findInstallation(real: string, home: string): Promise<string | undefined> {
  const steps = real.split('/');
  const modules = steps.indexOf('node_modules');
  const candidates = [
    ...(modules > 0 ? [steps.slice(0, modules + 1).join('/')] : []),
    ...(await findPackage(real, home)),
    // `bin` next to `lib`, as in an installation, but not ~/.local with everything in it.
    ...(basename(dirname(real)) === 'bin' && basename(dirname(dirname(real))) !== '.local'
      ? [dirname(dirname(real))]
      : []),
    dirname(real),
  ];
  return candidates.find((folder) => !isBroad(folder, home));
}

/** The package of a script. */
async function findPackage(real: string, home: string): Promise<string[]> {
  for (let folder = dirname(real); !isBroad(folder, home); folder = dirname(folder)) {
    if (await isFile(join(folder, 'package.json'))) return [folder];
  }
  return [];
}

/** Reads the interpreter from the first line of a script: `#!/usr/bin/env node` gives both. */
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
