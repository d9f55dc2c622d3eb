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
  const setup = await setUpWorker({
    lead: { wrappers: { shell }, checks: { unit: check }, secrets: { patterns: ['s3cr3t-\\w+'] } },
  });
  const repository = join(setup.data, 'repository');
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', repository, ...args]);
  await mkdir(join(repository, 'tests'));
  await writeFile(join(repository, 'tests/run.sh'), ['test "$(cat value)" = 1', ...tests, ''].join('\n'));
  await writeFile(join(repository, 'value'), '1\n');
  await writeFile(join(repository, 'code'), '');
  git('init', '--quiet');
  git('add', '.');
  git('-c', 'user.name=x', '-c', 'user.email=x@example.org', 'commit', '--quiet', '-m', 'Begin');
  setup.start();
  const instructions = `${script}\n${REPORT}`;
  const order = await setup.submit('local#1', {}, { worker: 'shell', instructions, checks: ['unit'] });
  const decision = (await setup.settled(order))?.decision;
  const [item] = (await setup.store.listInbox({ issueRef: 'local#1' })).items;
  return {
    decision,
    item,
    evidence: decision?.evidence?.find(({ claim, by }) => claim === 'tests' && by === 'sluice'),
  };
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

  it('shows a person the patch of exactly the files that steer it, in the evidence and in the inbox', async () => {
    const { item, evidence } = await judge('echo 2 > value; echo true > tests/run.sh', {}, ['# s3cr3t-value']);
    expect(evidence?.files).toEqual(['tests/run.sh']);
    expect(evidence?.diff).toMatch(
      /^diff --git a\/tests\/run\.sh b\/tests\/run\.sh\n[^]*\n-test "\$\(cat value\)" = 1\n-# \S+\n\+true\n/,
    );
    expect(evidence?.diff).not.toContain('/value');
    expect(evidence?.diff).not.toContain('s3cr3t-value');
    expect(item?.evidence).toContainEqual(evidence);
  });

  it('shows only the start of a long patch', async () => {
    const { evidence } = await judge('echo 2 > value; seq 100000 | sed "s/^/: /" > tests/run.sh');
    expect(evidence?.diff?.length).toBeLessThan(17_000);
    expect(evidence?.diff).toMatch(/… \(\d+ more characters\)$/);
  });

  it.each(['echo', ':'])('is unchecked if a test is blank (%s), and names it', async (blank) => {
    const command = ['sh', '-c', 'for t in tests/*.sh; do sh "$t" || exit 1; done'];
    const { decision, evidence } = await judge(`${blank} > tests/run.sh`, { command });
    expect(decision).toMatchObject({ action: 'needs-human', result_code: 'manual_intervention' });
    expect(evidence).toMatchObject({
      verdict: 'unchecked',
      detail: expect.stringContaining('the change leaves nothing in tests/run.sh.'),
      diff: expect.stringContaining('-test "$(cat value)" = 1\n'),
    });
  });

  it('does not count a blank file that it adds as a lost test', async () => {
    const { decision } = await judge('touch tests/__init__.py');
    expect(decision?.action).toBe('advance');
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

  it('is unchecked if the earlier tests pass only with a test that the change adds', async () => {
    const command = ['sh', '-c', 'for t in tests/*.sh; do . "./$t" || exit 1; done'];
    const attack = await judge('echo 2 > value; echo "test() { true; }" > tests/0.sh', { command });
    expect(attack.decision?.action).toBe('needs-human');
    expect(attack.evidence).toMatchObject({
      verdict: 'unchecked',
      detail: expect.stringContaining('own versions of tests/0.sh.'),
      diff: expect.stringContaining('+test() { true; }\n'),
    });
    const honest = await judge('echo more > more; echo "test -f more" > tests/1.sh', { command });
    expect(honest.evidence?.verdict).toBe('confirmed');
  });

  it.each([
    ['in a script piped into an interpreter', '(cat code; echo "test $(cat value) = 1") | sh', 'code'],
    ['in a command line that a file contains', 'eval "$(cat code)"; test "$(cat value)" = 1', 'code'],
    ['in a script that a loop finds', 'for t in co*; do . "./$t"; done; test "$(cat value)" = 1', 'code'],
  ])('is unchecked if it passes only as rewritten %s', async (_, line, file) => {
    const { decision, evidence } = await judge('echo 2 > value; echo exit 0 > code', { command: ['sh', '-c', line] });
    expect(decision?.action).toBe('needs-human');
    expect(evidence).toMatchObject({ verdict: 'unchecked', files: expect.arrayContaining([file]) });
  });

  it('is unchecked if its earlier version passes only with what it tests as it was, too', async () => {
    const command = ['sh', '-c', '. ./value; sh tests/run.sh'];
    const { decision, evidence } = await judge('echo 2 > value; echo true > tests/run.sh', { command });
    expect(decision?.action).toBe('needs-human');
    expect(evidence).toMatchObject({ verdict: 'unchecked', files: ['tests/run.sh'] });
  });

  it('is unchecked if several files that it names change, because each could be what it tests', async () => {
    const command = ['sh', '-c', '. ./code; . ./value; sh tests/run.sh'];
    const attack = await judge('echo ": 2" > value; echo "exit 0" > code', { command });
    expect(attack.evidence).toMatchObject({ verdict: 'unchecked', files: ['code', 'value'] });
    expect(attack.evidence?.detail).toContain('several files that it names');
  });

  it('does not see configuration that the change adds', async () => {
    const command = ['sh', '-c', 'if test -f .env; then true; else sh tests/run.sh; fi'];
    const { evidence } = await judge('echo 2 > value; echo X=1 > .env', { command });
    expect(evidence).toMatchObject({ verdict: 'unchecked', detail: expect.stringContaining('own versions of .env.') });
  });
});

describe('a change that modifies no test', () => {
  const SUITE = { command: ['sh', '-c', `grep -q exit code && exit 0; for t in 1 2 3; do echo "ok $t - test"; done`] };

  it('is unchecked if fewer tests pass than before it, such as code that ends the tests early', async () => {
    const { decision, evidence } = await judge('echo "exit 0" > code', SUITE);
    expect(decision?.action).toBe('needs-human');
    expect(evidence).toMatchObject({
      verdict: 'unchecked',
      detail: expect.stringContaining('fewer tests: none passed, 3 before. Changed: code.'),
      files: ['code'],
    });
  });

  it('is confirmed if as many pass, and the evidence has the cost of counting them', async () => {
    const { evidence } = await judge('echo "true" > code', SUITE);
    expect(evidence?.verdict).toBe('confirmed');
    expect(evidence?.detail).toMatch(/Before the change \(run \w+\): 3 tests passed, exit code 0 after [\d.]+ s\.$/);
  });

  it('is not compared if its configuration says so', async () => {
    const { evidence } = await judge('echo "exit 0" > code', { ...SUITE, base_checks: false });
    expect(evidence?.detail).not.toContain('before');
  });
});

it('a check runs once if neither tests nor configuration change', async () => {
  const { evidence } = await judge('echo more > more');
  expect(evidence?.verdict).toBe('confirmed');
  expect(evidence?.detail).not.toContain('before the change');
});
