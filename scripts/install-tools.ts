import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PROJECT, run } from './run-tool.js';

/** The lock file that `node_modules` was installed from. */
const STAMP = 'installed-from.json';

/**
 * Installs the packages of a folder with its own `package.json` and lock file, which only one job needs, unless they are
 * installed already. Returns its `node_modules`. Can be called by several processes at once.
 *
 * @example
 * const modules = await installTools('tools/browser')
 */
export async function installTools(folder: string): Promise<string> {
  const path = join(PROJECT, folder);
  const modules = join(path, 'node_modules');
  const lock = await readFile(join(path, 'package-lock.json'), 'utf8');
  if (await isInstalled(modules, lock)) return modules;
  process.stderr.write(`Installing the packages of ${folder}, once.\n`);
  // In another folder that is then renamed, so a process never finds half of them.
  const draft = await mkdtemp(join(path, 'node_modules-'));
  try {
    for (const name of ['package.json', 'package-lock.json']) await copyFile(join(path, name), join(draft, name));
    const options = ['--no-audit', '--no-fund', '--loglevel=error'];
    const { exitCode, stdout, stderr } = await run('npm', ['ci', ...options], draft);
    if (exitCode !== 0) throw new Error(`Cannot install the packages of ${folder}.\n${stdout}${stderr}`);
    await rename(join(draft, 'package-lock.json'), join(draft, 'node_modules', STAMP));
    // Another process might have been faster.
    if (await isInstalled(modules, lock)) return modules;
    await rename(modules, join(draft, 'replaced')).catch(() => undefined);
    await rename(join(draft, 'node_modules'), modules).catch(async (error: unknown) => {
      if (!(await isInstalled(modules, lock))) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return modules;
}

async function isInstalled(modules: string, lock: string): Promise<boolean> {
  const stamp = join(modules, STAMP);
  return existsSync(stamp) && (await readFile(stamp, 'utf8')) === lock;
}
