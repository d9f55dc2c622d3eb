import { describe, expect, test } from 'vitest';
import type { Evidence, RunResult, WorkResult } from '../../store/records/index.js';
import { choosePolicy, findChecks, readChecks } from './checks.js';
import { judgeCheck } from './judge-checks.js';
import type { CheckTry } from './judge-checks.js';
import { judgeCommit } from './judge-commit.js';
import type { OrderChange } from './judge-commit.js';
import { findUnproven, judgeReading, listReported } from './judge-result.js';

const FILE = {
  kind: 'modified',
  path: 'src/a.ts',
  oldMode: '100644',
  newMode: '100644',
  blob: 'a'.repeat(40),
} as const;
const CHANGE: OrderChange = {
  commit: 'c'.repeat(40),
  base: 'b'.repeat(40),
  commits: 1,
  files: [FILE],
  lines: 3,
  authors: ['Ada'],
  isBackdated: false,
  linksOut: [],
  madeBySluice: false,
};

function judge(change: Partial<OrderChange>, paths?: readonly string[]) {
  const order = paths === undefined ? {} : { paths };
  return judgeCommit({ found: 'change', change: { ...CHANGE, ...change } }, order).map(
    ({ claim, verdict, detail }) => `${claim} ${verdict}: ${detail}`,
  );
}

describe('judgeCommit', () => {
  test('confirms a change made by this order, and names who committed it', () => {
    expect(judge({ madeBySluice: true })).toEqual([
      `commit confirmed: ${CHANGE.commit}: 1 commit on top of bbbbbbbbbbbb, 1 file changed, committed by Sluice.`,
      'paths unchecked: The order sets no paths.',
    ]);
  });

  test('names the tests and the CI configuration that a change touches', () => {
    const files = [FILE, { ...FILE, path: 'test/a.test.ts' }, { ...FILE, path: '.github/workflows/ci.yml' }];
    expect(judge({ files })[1]).toBe(
      'paths unchecked: The order sets no paths. Tests touched: test/a.test.ts. CI configuration touched: .github/workflows/ci.yml.',
    );
  });

  test.each<[string, Partial<OrderChange>, RegExp]>([
    ['an empty change', { files: [] }, /^commit contradicted: Commit c+ changes no file/],
    ['a link that leads out', { linksOut: ['x'] }, /^commit contradicted: .*lead out of the repository: x/],
    ['a submodule', { files: [{ ...FILE, newMode: '160000' }] }, /^commit contradicted: .*submodules: src\/a.ts/],
  ])('contradicts %s', (_, change, expected) => {
    expect(judge(change)[0]).toMatch(expected);
  });

  test('contradicts a change outside its paths, including either path of a renamed file', () => {
    expect(judge({}, ['src/**'])[1]).toBe('paths confirmed: All files are within src/**.');
    const files = [{ ...FILE, kind: 'renamed', oldPath: 'lib/a.ts' } as const];
    expect(judge({ files }, ['src/**'])[1]).toBe('paths contradicted: Not allowed to change: lib/a.ts.');
  });

  test('contradicts a change that deletes tests', () => {
    const files = [{ ...FILE, kind: 'deleted', path: 'test/a.test.ts' } as const];
    expect(judge({ files })).toContain('tests contradicted: The change deletes tests: test/a.test.ts.');
  });

  test('contradicts a change that leaves nothing in its tests, unless a check judges them', () => {
    const blank = 'tests contradicted: The change deletes tests: test/a.test.ts.';
    const change = { ...CHANGE, blankTests: ['test/a.test.ts'] };
    expect(judge(change)).toContain(blank);
    expect(judgeCommit({ found: 'change', change }, {}, { isChecked: true }).map(({ claim }) => claim)).not.toContain(
      'tests',
    );
  });

  test('a commit that could not be examined is unchecked', () => {
    expect(judgeCommit({ found: 'unknown', why: 'git is not installed' }, {})).toEqual([
      { claim: 'commit', by: 'sluice', verdict: 'unchecked', detail: 'Not checked: git is not installed.' },
    ]);
  });
});

const RESULT: WorkResult = {
  issue_ref: 'local#1',
  run_id: '2026-11-15-qa-0001',
  status: 'ok',
  changes: { commit: CHANGE.commit },
  tests: { command: 'npm test', result: 'pass', evidence: '42 passed' },
  summary: '',
};

function createTry(exit: number, error?: RunResult['error']): CheckTry {
  const result: RunResult = {
    status: exit === 0 && error === undefined ? 'success' : 'failed',
    repair_level: 'none',
    warnings: [],
    artifacts: { created: [], modified: [], deleted: [] },
    attempts: 1,
    session_id: null,
    process: { exit_code: exit, signal: null, command: ['npm', 'test'], version: null },
    ...(error === undefined ? {} : { error }),
  };
  return { run: `run-${exit}`, result, durationMs: 1234 };
}

describe('judgeCheck', () => {
  const check = { name: 'unit', command: ['npm', 'test'] };
  const of = (tries: readonly CheckTry[], claimed = RESULT) =>
    judgeCheck({ check: { ...check, network: 'host' }, tries }, claimed);

  test.each([
    [3, 12, 'unchecked'],
    [undefined, 12, 'unchecked'],
    [12, 12, 'confirmed'],
    [13, undefined, 'confirmed'],
  ] as const)('judges %s passed tests, %s before the change, as %s', (now, before, verdict) => {
    const base = { tries: [{ ...createTry(0), passedTests: before }], files: ['.npmrc', 'a.test.js'] };
    const evidence = judgeCheck({ check, tries: [{ ...createTry(0), passedTests: now }], base }, RESULT);
    expect(evidence.verdict).toBe(verdict);
    const lost = ` It passed, but the change has fewer tests: ${now ?? 'none'} passed, 12 before. Changed: a.test.js.`;
    expect(evidence.detail.includes(lost)).toBe(verdict === 'unchecked');
  });

  test('is unchecked if the change leaves nothing in a test, even if the check also passes with the earlier one', () => {
    const base = { tries: [createTry(0)], files: ['a.test.js'] };
    for (const outcome of [{}, { base }]) {
      expect(judgeCheck({ check, tries: [createTry(0)], blankTests: ['a.test.js'], ...outcome }, RESULT)).toMatchObject(
        {
          verdict: 'unchecked',
          detail: expect.stringContaining('It passed, but the change leaves nothing in a.test.js.'),
          files: ['a.test.js'],
        },
      );
    }
  });

  test('is unchecked if fewer tests pass than at the commit before, although the checks with earlier files cannot run', () => {
    const before = { ...createTry(1), passedTests: 12 };
    const base = { tries: [{ problem: 'not run: its preparation failed' }], files: ['a.test.js'] };
    const outcome = { check, tries: [{ ...createTry(0), passedTests: 3 }], changed: ['src/a.js'], before };
    for (const each of [outcome, { ...outcome, base }]) {
      expect(judgeCheck(each, RESULT)).toMatchObject({
        verdict: 'unchecked',
        detail: expect.stringMatching(
          /fewer tests: 3 passed, 12 before\. Changed: src\/a\.js\. Before the change \(run run-1\): 12 tests passed, exit code 1 after 1\.2 s\.$/,
        ),
      });
    }
    expect(judgeCheck({ ...outcome, before: { problem: 'not run' } }, RESULT).verdict).toBe('confirmed');
  });

  test('names the tests that fail only as they were before the change', () => {
    const tries = [{ ...createTry(1), failedTests: ['adds up'] }];
    const evidence = judgeCheck({ check, tries: [createTry(0)], base: { tries, files: ['a.test.js'] } }, RESULT);
    expect(evidence).toMatchObject({ verdict: 'unchecked', files: ['a.test.js'] });
    expect(evidence.detail).toContain(' Failed without them: adds up.');
  });

  test('a check that passes confirms, with its command, exit code, duration and run', () => {
    expect(of([createTry(0)])).toEqual({
      claim: 'tests',
      by: 'sluice',
      verdict: 'confirmed',
      detail: 'unit (npm test): exit code 0 after 1.2 s. Not sandboxed.',
      run: 'run-0',
    });
  });

  test('shows every attempt', () => {
    expect(of([createTry(1), createTry(0)])).toMatchObject({
      verdict: 'confirmed',
      detail: 'unit (npm test): try 1 exit code 1 after 1.2 s, try 2 exit code 0 after 1.2 s. Not sandboxed.',
    });
  });

  test.each<[string, CheckTry, WorkResult]>([
    ['fails', createTry(1), RESULT],
    ['times out', createTry(0, { category: 'timeout', code: 'RUN_TIMED_OUT', message: '' }), RESULT],
    [
      'passes while the agent reports a failure',
      createTry(0),
      { ...RESULT, tests: { command: 'x', result: 'fail', evidence: '' } },
    ],
  ])('a check that %s contradicts', (_, attempt, claimed) => {
    expect(of([attempt], claimed).verdict).toBe('contradicted');
  });

  test.each<[string, CheckTry]>([
    ['was not prepared', { problem: 'not run: its preparation failed' }],
    ['was stopped', createTry(0, { category: 'canceled', code: 'RUN_CANCELED', message: '' })],
  ])('a check that %s is unchecked', (_, attempt) => {
    expect(of([attempt]).verdict).toBe('unchecked');
  });

  test('a detail that ends with a message has one full stop', () => {
    const problem = 'could not be started: Cannot find "npm". Install it.';
    expect(of([{ problem }]).detail).toBe(`unit (npm test): ${problem}`);
    const limit = { category: 'limit', code: 'OUTPUT_LIMIT_EXCEEDED', message: 'Too much output.' } as const;
    expect(of([createTry(1, limit)]).detail).toContain('stopped after 1.2 s: Too much output. Not');
  });

  test.each<[NonNullable<RunResult['sandbox']> | undefined, 'none' | 'host', string]>([
    [{ used: true, network: 'none' }, 'none', 'Sandboxed, without network.'],
    [{ used: true, network: 'host' }, 'host', 'Sandboxed, with network.'],
    [{ used: false, reason: 'no bwrap' }, 'none', 'Not sandboxed: no bwrap, so the network was not blocked.'],
    [{ used: false, reason: 'no bwrap' }, 'host', 'Not sandboxed: no bwrap.'],
    [{ used: false, reason: 'No bwrap.' }, 'none', 'Not sandboxed: No bwrap, so the network was not blocked.'],
    [undefined, 'none', 'Not sandboxed, so the network was not blocked.'],
  ])('reports what was enforced: %j with network %s', (sandbox, network, expected) => {
    const attempt = createTry(0);
    const tries =
      'result' in attempt && sandbox !== undefined
        ? [{ ...attempt, result: { ...attempt.result, sandbox } }]
        : [attempt];
    const { detail } = judgeCheck({ check: { ...check, network }, tries }, RESULT);
    expect(detail).toBe(`unit (npm test): exit code 0 after 1.2 s. ${expected}`);
  });
});

const evidence = (claim: Evidence['claim'], verdict: Evidence['verdict'], by: Evidence['by'] = 'sluice'): Evidence => ({
  claim,
  by,
  verdict,
  detail: 'so',
});

describe('findUnproven', () => {
  test('requires nothing if reports are enough', () => {
    expect(findUnproven([], 'reported', {}, ['unit'])).toEqual([]);
  });

  test.each<[string, readonly Evidence[], number]>([
    ['commit and check confirmed', [evidence('commit', 'confirmed'), evidence('tests', 'confirmed')], 0],
    ['pull request and check confirmed', [evidence('pr', 'confirmed'), evidence('tests', 'confirmed')], 0],
    ['a check that did not run', [evidence('commit', 'confirmed')], 1],
    [
      "the agent's own report about its tests",
      [evidence('commit', 'confirmed'), evidence('tests', 'unchecked', 'worker')],
      1,
    ],
    ['an unchecked check', [evidence('commit', 'confirmed'), evidence('tests', 'unchecked')], 1],
    ['nothing', [], 2],
  ])('%s', (_, collected, count) => {
    expect(findUnproven(collected, 'proven', {}, ['unit'])).toHaveLength(count);
  });

  test('a report needs no commit', () => {
    expect(findUnproven([evidence('tests', 'confirmed')], 'proven', { expects: 'report' }, ['unit'])).toEqual([]);
  });
});

test('an unchecked claim counts as reported by the agent', () => {
  const result = { ...RESULT, changes: { pr: '#7', commit: 'abcd' } };
  const reported = listReported(result, [evidence('commit', 'confirmed')]);
  expect(reported.map(({ claim, by, verdict, detail }) => [claim, by, verdict, detail])).toEqual([
    ['pr', 'worker', 'unchecked', '#7'],
    ['tests', 'worker', 'unchecked', 'npm test => pass (42 passed)'],
  ]);
});

test('a result belongs to this run only if it names it', () => {
  const order = { issue_ref: 'local#1', run_id: '2026-11-15-qa-0001' };
  const reading = { source: 'json', problems: [], result: RESULT } as const;
  const verdict = (run_id: string, exitCode: number | null) =>
    judgeReading(reading, { ...order, run_id }, { exitCode }).map((one) => one.verdict);
  expect(verdict(order.run_id, 0)).toEqual(['confirmed']);
  expect(verdict('2026-11-15-qa-0002', 0)).toEqual(['contradicted']);
  expect(verdict(order.run_id, null)).toEqual(['unchecked']);
});

describe('configured checks', () => {
  test('are named by orders, otherwise by wrappers', () => {
    const checks = readChecks({
      unit: { command: ['npm', 'test'] },
      lint: { command: ['npm', 'run', 'lint'], tries: 2 },
    });
    expect(findChecks({ checks: ['lint'] }, { checks: ['unit'] }, checks)).toEqual([
      { name: 'lint', command: ['npm', 'run', 'lint'], tries: 2 },
    ]);
    expect(findChecks({}, { checks: ['unit'] }, checks).map(({ name }) => name)).toEqual(['unit']);
    expect(() => findChecks({ checks: ['toString'] }, {}, checks)).toThrow(
      'Unknown check "toString". Use one of unit, lint, or add it to the setting "checks".',
    );
    expect(() => findChecks({ checks: ['unit'] }, {}, {})).toThrow(
      'Unknown check "unit". Add it to the setting "checks".',
    );
  });

  test.each([
    ['no command', { unit: {} }],
    ['an empty executable', { unit: { command: [' '] } }],
    ['an unknown key', { unit: { command: ['x'], shell: true } }],
    ['a bad name', { 'a b': { command: ['x'] } }],
    ['a list', []],
  ])('are rejected with %s', (_, value) => {
    expect(() => readChecks(value)).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG' }));
  });

  test('are rejected, and the error names the invalid key', () => {
    const unit = { command: [' '], prepare: [''] };
    expect(() => readChecks({ unit, 'a b': { command: ['x'] } })).toThrow(
      'Invalid setting "checks": unit.command: must start with an executable; unit.prepare: must start with an executable; a b: use letters, digits, dots, - and _ for a name, at most 64 characters.',
    );
  });

  test('make proof the default', () => {
    expect(choosePolicy({}, {})).toBe('reported');
    expect(choosePolicy({ checks: ['unit'] }, {})).toBe('proven');
    expect(choosePolicy({}, { checks: ['unit'], policy: { evidence: 'reported' } })).toBe('reported');
    expect(choosePolicy({}, { policy: { evidence: 'proven' } })).toBe('proven');
  });
});
