import { run } from '../scripts/run-tool.js';
import { findExecutable } from '../src/base/files/index.js';
import { probeSandbox } from '../src/runs/sandbox/index.js';

const PACKAGE = 'bubblewrap';

/**
 * Installs bubblewrap before the tests that need a sandbox, if it is missing and this process has permission, as in a
 * container or in CI. If it cannot be installed, those tests are skipped, and the test command lists them.
 */
export async function setup(): Promise<void> {
  const path = process.env['PATH'] ?? '';
  const cwd = process.cwd();
  if (process.platform !== 'linux' || (await findExecutable('bwrap', { path, cwd })) !== undefined) return;
  const apt = await findExecutable('apt-get', { path, cwd });
  if (apt === undefined || process.getuid?.() !== 0) return;
  process.stderr.write(`installing ${PACKAGE} with apt-get\n`);
  for (const args of [['update'], ['install', '--yes', '--no-install-recommends', PACKAGE]]) {
    const { exitCode, stderr } = await run(apt, ['--quiet', ...args], cwd);
    if (exitCode === 0) continue;
    process.stderr.write(stderr);
    return;
  }
}

/** When started as a script, installs it and reports whether sandboxes work. */
if (process.argv[1]?.endsWith('install-bubblewrap.ts') === true) {
  await setup();
  const support = await probeSandbox();
  process.stdout.write(
    support.works
      ? `bubblewrap ${support.version} works\n`
      : `Sandboxes do not work on this host, so their tests are skipped: ${support.reason}\n`,
  );
}
