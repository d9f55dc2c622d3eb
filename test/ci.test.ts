import { chmod, copyFile, mkdir, readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PROJECT, run } from '../scripts/run-tool.js';
import { makeFolder } from './temporary-folder.js';

const REAL = 'run --silent real';

/** Replaces npm: prints its arguments, and fails for those listed in the file `refuse`. */
const NPM = `#!/bin/sh
echo "npm $*"
if [ "$*" = "$(cat refuse)" ]; then echo planted; exit 3; fi
`;

/** A replacement whose agents start a child process and do not exit; the first gate fails once the child is running. */
const ENDLESS_NPM = `#!/bin/sh
case "$*" in
  '${REAL}') sh -c 'echo $$ >started; exec sleep 600' & wait ;;
  'run --silent format:check') until [ -s started ]; do sleep 0.1; done; exit 3 ;;
esac
`;

/** Runs the CI steps with an npm that fails one of them; returns headings and last lines. */
async function runSteps(refusedStep: string, npm = NPM) {
  const folder = await makeFolder({ 'bin/npm': npm, refuse: refusedStep });
  await chmod(join(folder, 'bin/npm'), 0o755);
  await mkdir(join(folder, '.ci'));
  await copyFile(join(PROJECT, '.ci/run'), join(folder, '.ci/run'));
  const path = `${join(folder, 'bin')}${delimiter}${process.env['PATH'] ?? ''}`;
  const { exitCode, stdout } = await run('env', [`PATH=${path}`, 'bash', '.ci/run'], folder);
  const lines = stdout.trimEnd().split('\n');
  return { exitCode, headings: lines.filter((line) => line.startsWith('== ')), lines, folder };
}

describe('.ci/run', () => {
  it('ends with the tests', async () => {
    const { exitCode, headings, lines } = await runSteps('nothing');
    expect(exitCode).toBe(0);
    expect(headings).toHaveLength(15);
    expect(lines).toContain(`npm ${REAL}`);
    expect(lines.slice(-2)).toEqual(['== tests', 'npm test --silent']);
  });

  it.each([
    ['install', 'ci --no-audit --no-fund'],
    ['lint', 'run --silent lint'],
    ['package', 'run --silent package'],
    ['real programs', REAL],
    ['tests', 'test --silent'],
  ])('fails with the step %s, reports it, and stops', async (name, command) => {
    const { exitCode, lines } = await runSteps(command);
    expect(exitCode).toBe(3);
    expect(lines.slice(-3)).toEqual([`== ${name}`, `npm ${command}`, 'planted']);
  });

  it('kills the real agents and their child processes when a gate fails', async () => {
    const { exitCode, lines, folder } = await runSteps('nothing', ENDLESS_NPM);
    expect(exitCode).toBe(3);
    expect(lines.at(-1)).toBe('== format');
    const started = Number(await readFile(join(folder, 'started'), 'utf8'));
    onTestFinished(() => end(started));
    await expect.poll(() => isRunning(started), { timeout: 30_000 }).toBe(false);
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function end(pid: number): void {
  if (isRunning(pid)) process.kill(pid, 'SIGKILL');
}
