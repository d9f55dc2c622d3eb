import { chmod, copyFile, mkdir, readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PROJECT, run } from '../scripts/run-tool.js';
import { makeFolder } from './temporary-folder.js';

const REAL = 'run --silent real';

/** Replaces npm: prints its arguments, fails for those listed in the file `refuse`, and otherwise ends tests with totals. */
const NPM = `#!/bin/sh
echo "npm $*"
case "$*" in
  "$(cat refuse)") echo planted; exit 3 ;;
  "$(cat fail)") echo '1 passed, 2 failed'; exit 1 ;;
  *test* | *torture*) echo '7 passed, 0 failed, 1 skipped' ;;
esac
`;

/** The steps that run tests. */
const TESTS = [
  ['tests', 'test --silent'],
  ['tests that start programs', 'run --silent test:processes'],
  ['tests of the product and the gates', 'run --silent test:product'],
  ['tests of the console', 'run --silent test:console'],
  ['tests of Kubernetes', 'run --silent test:kubernetes'],
  ['tests of the site', 'run --silent test:site'],
  ['tests of the deployment', 'run --silent test:deploy'],
  ['campaigns', 'run --silent torture -- --short'],
] as const;

/** The steps before them, and the total. A failure adds a list of failures. */
const OTHERS = 19;

/** The last line if this many steps end as replaced above. */
const total = (steps: number, passed = 0, failed = 0): string =>
  `${7 * steps + passed} passed, ${failed} failed, ${steps} skipped`;

/** A replacement whose agents start a child process and do not exit; the first gate fails once the child is running. */
const ENDLESS_NPM = `#!/bin/sh
case "$*" in
  '${REAL}') sh -c 'echo $$ >started; exec sleep 600' & wait ;;
  'run --silent format:check') until [ -s started ]; do sleep 0.1; done; exit 3 ;;
esac
`;

/** Runs the CI steps with an npm that refuses or fails one of them; returns headings and last lines. */
async function runSteps({ refuse = 'nothing', fail = 'nothing', npm = NPM } = {}) {
  const folder = await makeFolder({ 'bin/npm': npm, refuse, fail });
  await chmod(join(folder, 'bin/npm'), 0o755);
  await mkdir(join(folder, '.ci'));
  await copyFile(join(PROJECT, '.ci/run'), join(folder, '.ci/run'));
  const path = `${join(folder, 'bin')}${delimiter}${process.env['PATH'] ?? ''}`;
  const { exitCode, stdout } = await run('env', [`PATH=${path}`, 'bash', '.ci/run'], folder);
  const lines = stdout.trimEnd().split('\n');
  return { exitCode, headings: lines.filter((line) => line.startsWith('== ')), lines, folder };
}

describe('.ci/run', () => {
  it('ends with all tests and their totals', async () => {
    const { exitCode, headings, lines } = await runSteps();
    expect(exitCode).toBe(0);
    expect(headings).toHaveLength(OTHERS + TESTS.length);
    expect(lines).toContain(`npm ${REAL}`);
    expect(headings.slice(-TESTS.length - 1)).toEqual([...TESTS.map(([name]) => `== ${name}`), '== total']);
    for (const [, command] of TESTS) expect(lines).toContain(`npm ${command}`);
    expect(lines.at(-1)).toBe(total(TESTS.length));
  });

  it.each([
    ['install', 'ci --no-audit --no-fund'],
    ['lint', 'run --silent lint'],
    ['package', 'run --silent package'],
    ['real programs', REAL],
  ])('fails with the gate %s, reports it, and stops', async (name, command) => {
    const { exitCode, headings, lines } = await runSteps({ refuse: command });
    expect(exitCode).toBe(3);
    expect(headings.at(-1)).toBe(`== ${name}`);
    expect(lines.slice(-2)).toEqual([`npm ${command}`, 'planted']);
  });

  it.each(TESTS)('fails if %s fail, and still runs the other tests and adds the totals', async (name, command) => {
    const { exitCode, headings, lines } = await runSteps({ fail: command });
    expect(exitCode).toBe(1);
    expect(headings).toContain(`== ${name}`);
    expect(headings).toHaveLength(OTHERS + TESTS.length + 1);
    expect(lines.slice(lines.indexOf('== failures'), -2)).toEqual(['== failures', `${name}: exit code 1`, '']);
    expect(lines.at(-1)).toBe(total(TESTS.length - 1, 1, 2));
  });

  it('counts tests that end without totals as a failure', async () => {
    const { exitCode, lines } = await runSteps({ refuse: 'test --silent' });
    expect(exitCode).toBe(3);
    expect(lines.at(-1)).toBe(total(TESTS.length - 1, 0, 1));
  });

  it('kills the real agents and their child processes when a gate fails', async () => {
    const { exitCode, lines, folder } = await runSteps({ npm: ENDLESS_NPM });
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
