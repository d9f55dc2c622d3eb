import { lstat, open, readlink, realpath, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { findExecutable } from '../../../base/files/index.js';
import { type Mount, isWithin } from './mount.js';
import { isBroad, isInSystem } from './system-folders.js';

/** Where to look for executables; the working folder and the home folder are no installation. */
export interface ProgramSearch {
  /** The entries of PATH inside the sandbox. */
  readonly path: string;
  readonly cwd: string;
  readonly home: string;
}

/** Scripts named in a command are mounted with their installation; other files are mounted alone. */
const SCRIPT = /\.(?:[cm]?[jt]s|py|rb|pl|sh)$/;

/** The maximum length of chains of links and interpreters. */
const MAX_STEPS = 8;

/**
 * Finds what to mount read-only so that a command can start: the folders in PATH, the installations of its executable
 * and its interpreter, and the files named by their full path. A script that belongs to no installation is mounted
 * alone (`loneScripts`), because a project next to it is none of the agent's business. The command must come from the caller, never from
 * an agent.
 *
 * @example
 * await findProgramFolders(['codex'], { path, cwd, home }) // { mounts: [{ at: '/home/me/.nvm/versions/node/v20.19.0', … }], … }
 */
export async function findProgramFolders(command: readonly string[], search: ProgramSearch) {
  const found: Found = { mounts: new Map(), loneScripts: new Set(), search };
  const folders = search.path.split(delimiter).filter(isAbsolute);
  const realFolders = await Promise.all(folders.map(async (folder) => realpath(folder).catch(() => undefined)));
  for (const [index, folder] of folders.entries()) {
    const real = realFolders[index];
    if (real === undefined || isBroad(folder, search.home) || isBroad(real, search.home)) continue;
    addFolder(found, folder, real);
    addFolder(found, real);
  }
  const [program = '', ...args] = command;
  await addProgram(found, program, MAX_STEPS);
  for (const argument of args) {
    if (!isAbsolute(argument) || !(await isFile(argument))) continue;
    if (SCRIPT.test(argument)) await addFile(found, argument);
    else addFolder(found, argument);
  }
  return { mounts: [...found.mounts.values()], loneScripts: [...found.loneScripts] };
}

/** Lists the mounts of files that a request names, without links. One below `node_modules` mounts its installation. */
export function listRequestedFiles(files: readonly string[]) {
  const mounts = files.map((file): Mount => {
    const at = findModules(file) ?? file;
    return { kind: 'read', at, from: at };
  });
  return { mounts, loneScripts: files.filter((file) => SCRIPT.test(file) && findModules(file) === undefined) };
}

interface Found {
  readonly mounts: Map<string, Mount>;
  readonly loneScripts: Set<string>;
  readonly search: ProgramSearch;
}

function addFolder({ mounts, search }: Found, at: string, from = at): void {
  if (!isInSystem(at) && !isWithin(at, search.cwd)) mounts.set(at, { kind: 'read', at, from });
}

async function addProgram(found: Found, program: string, steps: number): Promise<void> {
  const { search } = found;
  const file = await findExecutable(program, search);
  if (file === undefined || steps === 0) return;
  await addFile(found, file);
  // An agent could have written a script in the working folder: it names interpreters on the PATH, and no other files.
  const isTrusted = !isWithin(file, search.cwd);
  for (const interpreter of await readInterpreter(file)) {
    if (isTrusted || !interpreter.includes('/')) await addProgram(found, interpreter, steps - 1);
  }
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

/** Adds a file, the links that lead to it, and the installations that they belong to. */
async function addFile(found: Found, file: string): Promise<void> {
  const { mounts, loneScripts, search } = found;
  // An agent could have written to the working folder, so links there are not followed.
  if (isWithin(file, search.cwd)) return;
  let at = file;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const target = await readlink(at).catch(() => undefined);
    if (target === undefined) break;
    const installation = await findInstallation(at, search.home);
    if (installation !== undefined) addFolder(found, installation);
    else if (!isInSystem(at)) mounts.set(at, { kind: 'link', at, to: target });
    at = resolve(dirname(at), target);
  }
  const real = await realpath(file).catch(() => undefined);
  if (real === undefined) return;
  const installation = await findInstallation(real, search.home);
  addFolder(found, installation ?? real);
  if (installation === undefined && !isInSystem(real)) loneScripts.add(real);
}

/**
 * Finds the folder that a program was installed with: the `node_modules` it is below, or the folder that has its `bin`
 * and the `lib` that belongs to it. A project that someone works on is not an installation.
 */
async function findInstallation(file: string, home: string): Promise<string | undefined> {
  const modules = findModules(file);
  if (modules !== undefined) return modules;
  const folder = dirname(dirname(file));
  // Many installations share ~/.local.
  if (basename(dirname(file)) !== 'bin' || basename(folder) === '.local' || isBroad(folder, home)) return undefined;
  const [lib, ...project] = await Promise.all(
    ['lib', 'package.json', '.git'].map(async (name) => lstat(join(folder, name)).catch(() => undefined)),
  );
  return lib?.isDirectory() === true && project.every((entry) => entry === undefined) ? folder : undefined;
}

function findModules(file: string): string | undefined {
  const steps = file.split('/');
  const modules = steps.indexOf('node_modules');
  return modules > 0 ? steps.slice(0, modules + 1).join('/') : undefined;
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

/** The end of an error's text that names a file: quoted, or an absolute path. */
const NAMED_FILE = /'([^'\n]+)'|"([^"\n]+)"|(\/[^\s:'"]+)/g;
/** The endings that languages add to the name of a module. */
const ENDINGS = ['', '.js', '.mjs', '.cjs', '.json', '.py', '.rb', '.sh'];
const MAX_NAMED = 200;

/**
 * Finds a file that an error names and that is next to a script, but is not mounted: the script could not load it.
 *
 * @example
 * await findMissingSibling("Cannot find module '/tools/lib.mjs'", ['/tools/run.mjs'], () => false) // '/tools/lib.mjs'
 */
export async function findMissingSibling(
  output: string,
  loneScripts: readonly string[],
  isVisible: (path: string) => boolean,
): Promise<string | undefined> {
  const named = new Set(
    [...output.matchAll(NAMED_FILE)].map(([, single, double, bare]) => single ?? double ?? bare ?? ''),
  );
  for (const name of [...named].slice(0, MAX_NAMED)) {
    for (const script of loneScripts) {
      const folder = dirname(script);
      const path = resolve(folder, name);
      if (path === folder || path === script || !isWithin(path, folder)) continue;
      for (const candidate of ENDINGS.map((ending) => path + ending)) {
        if (!isVisible(candidate) && (await stat(candidate).catch(() => undefined)) !== undefined) return candidate;
      }
    }
  }
  return undefined;
}
