import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { run } from '../../scripts/run-tool.js';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const STAMP = `${FOLDER}node_modules/.installed-lock`;

/** Where the programs are once they are installed. */
export const PROGRAMS_FOLDER = `${FOLDER}node_modules/.bin`;

/**
 * Installs what the lock file names, unless that has been done. Returns why it failed, if it did: the suite then says
 * what it could not run. `npm ci` would refuse a lock that does not name the binaries of every other platform.
 */
export async function installPrograms(): Promise<string | undefined> {
  const lock = createHash('sha256')
    .update(readFileSync(`${FOLDER}package-lock.json`))
    .digest('hex');
  if (readStamp() === lock) return undefined;
  const options = ['--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
  const { exitCode, stdout, stderr } = await run('npm', ['install', ...options], FOLDER);
  if (exitCode !== 0) return `${stdout}${stderr}`.trim().slice(-1000);
  writeFileSync(STAMP, lock);
  return undefined;
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
