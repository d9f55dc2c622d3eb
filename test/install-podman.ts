import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT, run } from '../scripts/run-tool.js';
import { findExecutable } from '../src/base/files/index.js';

/** The image of the tests: busybox, and Node.js with the libraries it is linked with, from the files of this host. */
export const TEST_IMAGE = 'localhost/sluice-test:latest';

/** Without a user's own settings: those of a host without the right to raise limits. */
const SETTINGS = '[containers]\ndefault_ulimits = ["nofile=20000:20000", "nproc=4096:4096"]\n';
const SETTINGS_FILE = join(PROJECT, 'node_modules', '.cache', 'containers.conf');

const PACKAGES = ['podman', 'runc', 'catatonit', 'busybox-static', 'uidmap'];
const APPLETS =
  'sh cat ls echo sleep kill id touch head find grep ps env mkdir mv rm ln true wc nc mount df dd tr'.split(' ');

/**
 * Installs Podman before the tests that need containers, if it is missing and this process has permission, and imports
 * their image. If that is not possible, those tests are skipped, and the test command lists them.
 */
export async function setup(): Promise<void> {
  if (process.platform !== 'linux') return;
  const search = { path: process.env['PATH'] ?? '', cwd: process.cwd() };
  await mkdir(dirname(SETTINGS_FILE), { recursive: true });
  await writeFile(SETTINGS_FILE, SETTINGS);
  process.env['CONTAINERS_CONF'] ??= SETTINGS_FILE;
  if ((await findExecutable('podman', search)) === undefined && !(await install(search))) return;
  if ((await runPodman(['image', 'exists', TEST_IMAGE])) === undefined) await importImage(search);
}

async function install(search: Parameters<typeof findExecutable>[1]): Promise<boolean> {
  const apt = await findExecutable('apt-get', search);
  if (apt === undefined || process.getuid?.() !== 0) return false;
  process.stderr.write('installing Podman with apt-get\n');
  for (const args of [['update'], ['install', '--yes', '--no-install-recommends', ...PACKAGES]]) {
    const { exitCode, stderr } = await run(apt, ['--quiet', ...args], search.cwd);
    if (exitCode === 0) continue;
    process.stderr.write(stderr);
    return false;
  }
  return true;
}

/** Runs Podman; returns its output, or undefined if it fails. */
async function runPodman(args: readonly string[]): Promise<string | undefined> {
  try {
    return (await promisify(execFile)('podman', [...args])).stdout;
  } catch {
    return undefined;
  }
}

/** Imports the image from files of this host, because tests must not depend on a registry. */
async function importImage(search: Parameters<typeof findExecutable>[1]): Promise<void> {
  const busybox = await findExecutable('busybox', search);
  if (busybox === undefined) return;
  const root = await mkdtemp(join(tmpdir(), 'sluice-image-'));
  try {
    await mkdir(join(root, 'bin'));
    await mkdir(join(root, 'etc'));
    await cp(await realpath(busybox), join(root, 'bin', 'busybox'));
    for (const name of APPLETS) await symlink('busybox', join(root, 'bin', name));
    await cp(await realpath(process.execPath), join(root, 'bin', 'node'));
    const { stdout } = await promisify(execFile)('ldd', [process.execPath]);
    for (const library of stdout.match(/\/\S+/g) ?? []) {
      await mkdir(join(root, dirname(library)), { recursive: true });
      await cp(await realpath(library), join(root, library));
    }
    await writeFile(join(root, 'etc', 'passwd'), 'root:x:0:0::/:/bin/sh\nagent:x:1000:1000::/home/agent:/bin/sh\n');
    const archive = join(root, '..', `${root.slice(dirname(root).length + 1)}.tar`);
    await promisify(execFile)('tar', ['--directory', root, '--create', '--file', archive, '.']);
    await runPodman(['import', '--quiet', archive, TEST_IMAGE]);
    await rm(archive);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Whether containers can be started on this host, and if not, why. */
export async function probePodman(): Promise<{ readonly works: boolean; readonly reason: string }> {
  process.env['CONTAINERS_CONF'] ??= SETTINGS_FILE;
  try {
    await promisify(execFile)('podman', [
      'run',
      '--rm',
      '--init',
      '--pull',
      'never',
      '--network',
      'none',
      TEST_IMAGE,
      'true',
    ]);
    return { works: true, reason: '' };
  } catch (error) {
    return { works: false, reason: String(error).trim() };
  }
}

/** When started as a script, installs it and reports whether containers work. */
if (process.argv[1]?.endsWith('install-podman.ts') === true) {
  await setup();
  const { works, reason } = await probePodman();
  process.stdout.write(
    works ? 'Podman works\n' : `Containers do not work on this host, so their tests are skipped: ${reason}\n`,
  );
}
