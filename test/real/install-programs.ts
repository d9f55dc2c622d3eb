import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { run } from '../../scripts/run-tool.js';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));

/** Packages that only ACP agents need: installed on demand. */
export const ACP_FOLDER = `${FOLDER}acp-agents/`;

/** The folder of the installed agents. */
export const PROGRAMS_FOLDER = `${FOLDER}node_modules/.bin`;

/** The folder of agents that support only the Agent Client Protocol. */
export const ACP_PROGRAMS_FOLDER = `${ACP_FOLDER}node_modules/.bin`;

/** Packages that only presets need: installed on demand. */
export const PRESET_FOLDER = `${FOLDER}preset-agents/`;

/** The folder of the agents of presets. */
export const PRESET_PROGRAMS_FOLDER = `${PRESET_FOLDER}node_modules/.bin`;

/** The folder for home folders that must not be in the temporary folder. */
export const HOMES_FOLDER = `${FOLDER}node_modules/.homes`;

/** Copilot unpacks itself into its cache when it is first started, which takes seconds and is not possible in a sandbox. */
export const COPILOT_CACHE = `${FOLDER}node_modules/.copilot-cache`;

/** The outcome of the installation. */
export interface Installation {
  readonly done: boolean;
  /** The output of npm for each failed step. */
  readonly problems: readonly string[];
}

/**
 * Installs the agents in the lock file, unless already installed. An agent that is not published for this platform does
 * not prevent the others from being installed. `npm ci` would refuse a lock file without the binaries of every
 * platform.
 */
export async function installPrograms(folder: string = FOLDER): Promise<Installation> {
  const lock = createHash('sha256')
    .update(readFileSync(`${folder}package-lock.json`))
    .digest('hex');
  const stamp = `${folder}node_modules/.installed-lock`;
  if (readStamp(stamp) === lock) return { done: true, problems: [] };
  const problem = await npm(folder, 'install', '--no-save', '--ignore-scripts');
  if (problem !== undefined) return { done: false, problems: [problem] };
  const problems: string[] = [];
  for (const name of listProgramsWithScripts(folder)) {
    const failure = await npm(folder, 'rebuild', name);
    if (failure !== undefined) problems.push(failure);
  }
  if (problems.length === 0) writeFileSync(stamp, lock);
  return { done: true, problems };
}

/** Lists agents that need an install script to be complete. */
function listProgramsWithScripts(folder: string): string[] {
  const { allowScripts } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8')) as {
    allowScripts: Readonly<Record<string, boolean>>;
  };
  return Object.keys(allowScripts).filter((name) => allowScripts[name] === true);
}

/** Runs npm in a folder; returns the end of its output if it failed. */
async function npm(folder: string, ...args: readonly string[]): Promise<string | undefined> {
  const options = ['--no-audit', '--no-fund', '--loglevel=error'];
  const { exitCode, stdout, stderr } = await run('npm', [...args, ...options], folder);
  return exitCode === 0 ? undefined : `${stdout}${stderr}`.trim().slice(-1000);
}

/** Returns the version of an installed package. */
export function readInstalledVersion(name: string): string {
  const manifest = JSON.parse(readFileSync(`${FOLDER}node_modules/${name}/package.json`, 'utf8')) as {
    version: string;
  };
  return manifest.version;
}

function readStamp(stamp: string): string | undefined {
  try {
    return readFileSync(stamp, 'utf8');
  } catch {
    return undefined;
  }
}
