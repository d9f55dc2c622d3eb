import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Check } from '../../proof/checks.js';
import { setUpWorker } from '../fixtures/set-up-worker.js';

const REPORT = `printf '{"issue_ref":"%s","run_id":"%s","status":"ok","changes":{},"tests":"n/a","summary":"Done."}' "$SLUICE_ISSUE_REF" "$SLUICE_RUN_ID" > "$SLUICE_RUN_DIR/work_result.json"`;

/** Executes an order whose change is made by `script`, and returns the evidence of its check: `sh tests/run.sh`. */
async function judge(script: string, settings: Partial<Check> = {}, tests: readonly string[] = []) {
  const shell = { type: 'script', command: ['/bin/sh', '-c', 'eval "$SLUICE_INSTRUCTIONS"'], inject: 'env' } as const;
  const check: Check = { command: ['sh', 'tests/run.sh'], network: 'host', ...settings };
  const setup = await setUpWorker({ lead: { wrappers: { shell }, checks: { unit: check } } });
  const repository = join(setup.data, 'repository');
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', repository, ...args]);
  await mkdir(join(repository, 'tests'));
  await writeFile(join(repository, 'tests/run.sh'), ['test "$(cat value)" = 1', ...tests, ''].join('\n'));
  await writeFile(join(repository, 'value'), '1\n');
  git('init', '--quiet');
  git('add', '.');
  git('-c', 'user.name=x', '-c', 'user.email=x@example.org', 'commit', '--quiet', '-m', 'Begin');
  setup.start();
  const instructions = `${script}\n${REPORT}`;
  const order = await setup.submit('local#1', {}, { worker: 'shell', instructions, checks: ['unit'] });
  const decision = (await setup.settled(order))?.decision;
  return { decision, evidence: decision?.evidence?.find(({ claim, by }) => claim === 'tests' && by === 'sluice') };
}

describe('a check that a change rewrites', () => {
  it('is confirmed if it also passes as it was before the change', async () => {
    const { decision, evidence } = await judge('echo more > more; echo "test -f more" >> tests/run.sh');
    expect(decision?.action).toBe('advance');
    expect(evidence?.verdict).toBe('confirmed');
    expect(evidence?.detail).toMatch(
      /With the tests and configuration from before the change \(run \w+\): exit code 0 after [\d.]+ s\.$/,
    );
  });

  it('is unchecked, not contradicted, if it passes only as rewritten, and the reason names the files', async () => {
    const { decision, evidence } = await judge('echo 2 > value; echo true > tests/run.sh');
    expect(decision?.action).toBe('needs-human');
    expect(evidence?.verdict).toBe('unchecked');
    expect(evidence?.detail).toContain("It passed only with the change's own versions of tests/run.sh.");
    expect(evidence?.detail).toMatch(/before the change \(run \w+\): exit code 1 after/);
  });

  it.each([
    ['vitest', '      Tests  %d passed (%d)'],
    ['jest', 'Tests:       %d passed, %d total'],
    ['pytest', '==== %d passed in 0.12s ===='],
    ['cargo', 'test result: ok. %d passed; 0 failed'],
    ['TAP', '# pass %d'],
    ['JUnit', '<testsuite name="a" tests="%d">'],
    ['go', '--- PASS: Test%d'],
  ])('is unchecked if fewer tests pass than before the change, as reported by %s', async (_, line) => {
    const report = (count: number) => `echo '${line.replaceAll('%d', String(count))}'`;
    const lines = line.startsWith('---') ? [report(1), report(2)] : [report(2)];
    const { decision, evidence } = await judge(`cat > tests/run.sh <<'END'\n${report(1)}\nEND\n`, {}, lines);
    expect(decision?.action).toBe('needs-human');
    expect(evidence).toMatchObject({
      verdict: 'unchecked',
      detail: expect.stringContaining('fewer tests: 1 passed, 2 before. Changed: tests/run.sh.'),
    });
  });

  it('is contradicted if it fails as committed', async () => {
    const { evidence } = await judge('echo false > tests/run.sh');
    expect(evidence?.verdict).toBe('contradicted');
    expect(evidence?.detail).not.toContain('before the change');
  });

  it('is not run a second time if its configuration says so', async () => {
    const { decision, evidence } = await judge('echo true >> tests/run.sh', { base_checks: false });
    expect(decision?.action).toBe('needs-human');
    expect(evidence?.detail).toContain('the change rewrites what it runs: tests/run.sh');
  });

  it('does not see configuration that the change adds', async () => {
    const command = ['sh', '-c', 'if test -f .env; then true; else sh tests/run.sh; fi'];
    const { evidence } = await judge('echo 2 > value; echo X=1 > .env', { command });
    expect(evidence).toMatchObject({ verdict: 'unchecked', detail: expect.stringContaining('own versions of .env.') });
  });
});

it('a check runs once if neither tests nor configuration change', async () => {
  const { evidence } = await judge('echo more > more');
  expect(evidence?.verdict).toBe('confirmed');
  expect(evidence?.detail).not.toContain('before the change');
});
