import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { run } from '../../scripts/run-tool.js';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const STAMP = `${FOLDER}node_modules/.installed-lock`;

/** Where the programs are once they are installed. */
export const PROGRAMS_FOLDER = `${FOLDER}node_modules/.bin`;

/** What came of installing the programs. */
export interface Installation {
  readonly done: boolean;
  /** What npm said about each step that failed. */
  readonly problems: readonly string[];
}

/**
 * Installs what the lock file names, unless that has been done. A program that is not published for this machine keeps
 * no other from being installed. `npm ci` would refuse a lock that does not name the binaries of every other platform.
 */
export async function installPrograms(): Promise<Installation> {
  const lock = createHash('sha256')
    .update(readFileSync(`${FOLDER}package-lock.json`))
    .digest('hex');
  if (readStamp() === lock) return { done: true, problems: [] };
  const problem = await npm('install', '--no-save', '--ignore-scripts');
  if (problem !== undefined) return { done: false, problems: [problem] };
  const problems: string[] = [];
  for (const name of programsWithScripts()) {
    const failure = await npm('rebuild', name);
    if (failure !== undefined) problems.push(failure);
  }
  if (problems.length === 0) writeFileSync(STAMP, lock);
  return { done: true, problems };
}

/** Those that must run a script of theirs to be complete. */
function programsWithScripts(): string[] {
  const { allowScripts } = JSON.parse(readFileSync(`${FOLDER}package.json`, 'utf8')) as {
    allowScripts: Readonly<Record<string, boolean>>;
  };
  return Object.keys(allowScripts).filter((name) => allowScripts[name] === true);
}

/** Runs npm in the folder of the programs; returns the end of what it printed if it failed. */
async function npm(...args: readonly string[]): Promise<string | undefined> {
  const options = ['--no-audit', '--no-fund', '--loglevel=error'];
  const { exitCode, stdout, stderr } = await run('npm', [...args, ...options], FOLDER);
  return exitCode === 0 ? undefined : `${stdout}${stderr}`.trim().slice(-1000);
}

/** The version of a package that is installed. */
export function installedVersion(name: string): string {
  const manifest = JSON.parse(readFileSync(`${FOLDER}node_modules/${name}/package.json`, 'utf8')) as {
    version: string;
  };
  return manifest.version;
}

function readStamp(): string | undefined {
  try {
    return readFileSync(STAMP, 'utf8');
  } catch {
    return undefined;
  }
}
