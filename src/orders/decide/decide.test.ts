import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { order, createReading, result } from '../fixtures/order.js';
import type { Reading } from '../../store/records/reading.js';
import { PROBLEM_CODES } from '../../store/records/reading.js';
import { RESULT_CODES } from '../../store/records/work-result.js';
import type { WorkResult } from '../../store/records/work-result.js';
import { decide } from './decide.js';
import type { DecisionInput } from './decide.js';

const successfulCase = { order, reading: createReading(), activeRunId: order.run_id, exitCode: 0, signal: null };

/** Decides a clean success with these fields overridden. */
function decideWith(changes: Partial<DecisionInput>) {
  return decide({ ...successfulCase, ...changes });
}

function withoutResult(reading: Partial<Reading> = {}): Reading {
  return { source: 'none', problems: [{ code: 'RESULT_MISSING', message: 'no result file found' }], ...reading };
}

describe('rule 1: the order is not the active run', () => {
  test.each([
    ['another run is active', '2026-11-15-backend-0002', 'Run 2026-11-15-backend-0002 is active'],
    [
      'a run with a long role is active',
      '2026-11-15-frontend-accessibility-reviewer-0002',
      'Run 2026-11-15-frontend-accessibility-reviewer-0002 is active',
    ],
    ['no run is active', null, 'No run of the issue is active'],
    ['another run is active, and its id is unknown', undefined, 'Another run of the issue is active'],
    ['the active run is an empty string', '', 'No run of the issue is active'],
  ])('%s: archives any result', (_, activeRunId, reason) => {
    expect(decideWith({ activeRunId })).toEqual({
      action: 'archive',
      result_code: 'stale_run',
      reason: `${reason}, so the result of 2026-11-15-backend-0001 is archived and changes nothing.`,
      next: 'Nothing to do.',
    });
  });

  test('an order without a run id is never active', () => {
    expect(decideWith({ order: { ...order, run_id: '' }, activeRunId: '' }).action).toBe('archive');
  });
});

describe('rule 2: the agent was not started', () => {
  test('blocks if a dependency is not resolved yet', () => {
    expect(decideWith({ unresolved: ['acme/shop#11', 'local#setup'], reading: withoutResult() })).toEqual({
      action: 'blocked',
      result_code: 'dep_unresolved',
      reason: 'The agent was not started: acme/shop#11, local#setup must be in review or done first.',
      next: 'Submit the order again after that.',
    });
  });

  test('asks a human if its executable is missing', () => {
    const startError = 'codex is not installed.';
    expect(decideWith({ startError, exitCode: null, reading: withoutResult() })).toEqual({
      action: 'needs-human',
      result_code: 'env_unavailable',
      reason: 'The agent could not be started: codex is not installed.',
      next: 'Fix the cause, then retry.',
    });
  });
});

describe('rule 3: the result names another run or issue', () => {
  test.each([
    ['run', { run_id: '2026-11-15-backend-0009' }, 'acme/shop#12 2026-11-15-backend-0009'],
    ['issue', { issue_ref: 'acme/shop#13' }, 'acme/shop#13 2026-11-15-backend-0001'],
  ])('another %s: archives it and asks a human', (_, changes, expectedNames) => {
    expect(decideWith({ reading: createReading(changes) })).toEqual({
      action: 'needs-human',
      result_code: 'stale_run',
      reason: `The result names ${expectedNames} instead of acme/shop#12 2026-11-15-backend-0001; it is archived and counts for neither.`,
      next: 'Check what the agent did, then retry or enter the result by hand.',
    });
  });
});

describe('rule 4: the agent exited without a result', () => {
  const printedOnly = withoutResult({
    source: 'streams',
    anchors: { status: 'ok' },
    problems: [{ code: 'ONLY_ANCHORS', message: 'what it printed is not a result' }],
  });

  test.each<[string, Partial<DecisionInput>, string]>([
    [
      'by a signal',
      { exitCode: null, signal: 'SIGKILL', durationMs: 12_345 },
      'The agent exited without a result: its process was terminated by signal SIGKILL after 12.3 s.',
    ],
    [
      'with an exit code',
      { exitCode: 3, durationMs: 800 },
      'The agent exited without a result: its process exited with code 3 after 0.8 s.',
    ],
    [
      'after it printed something',
      { exitCode: 1, durationMs: 3_600_000, reading: printedOnly },
      'The agent exited without a result: its process exited with code 1 after 60 min.',
    ],
    [
      'with an unknown exit',
      { exitCode: null, durationMs: 90_000 },
      'The agent exited without a result: its exit status is unknown.',
    ],
    [
      'with a run error',
      { exitCode: null, signal: 'SIGTERM', durationMs: 30_000, runError: 'The run took longer than 30 s' },
      'The agent exited without a result: its process was terminated by signal SIGTERM after 30 s. The run took longer than 30 s.',
    ],
  ])('%s: asks a human and states that as the reason', (_, changes, reason) => {
    expect(decideWith({ reading: withoutResult(), ...changes })).toEqual({
      action: 'needs-human',
      result_code: 'output_unparseable',
      reason,
      next: 'Check its last output, then retry or enter the result by hand.',
    });
  });

  test('the reason ends with its last lines of output, on one line and without terminal codes', () => {
    const lastOutput = 'first\nsecond\n\u001b[31mError: no\u001b[0m such model\r\n\n  at main\u202e\n';
    expect(decideWith({ reading: withoutResult(), exitCode: 1, lastOutput }).reason).toMatch(
      / Last output: second \| Error: no such model \| at main\\u\{202e\}$/,
    );
    const long = decideWith({ reading: withoutResult(), exitCode: 1, lastOutput: '😀'.repeat(400) }).reason;
    expect(long).toMatch(/ Last output: …(?:😀){150}$/u);
    expect(decideWith({ reading: { source: 'none', problems: [] }, exitCode: 0, lastOutput: 'done' }).reason).toMatch(
      / Last output: done$/,
    );
    expect(decideWith({ reading: withoutResult(), exitCode: 1, lastOutput: ' \n' }).reason).not.toContain(
      'Last output',
    );
  });

  test('the next step explains how to get its output', () => {
    const decisionCase = { reading: withoutResult(), exitCode: 1, run: '01KA3RUN' };
    expect(decideWith(decisionCase).next).toBe(
      'Check its last output (sluice export 01KA3RUN DIR), then retry or enter the result by hand.',
    );
  });
});

describe('rule 5: no usable result', () => {
  test.each<[string, Reading, string, string]>([
    ['nothing', withoutResult(), 'output_unparseable', 'no result file found'],
    ['nothing, and no problem reported', { source: 'none', problems: [] }, 'output_unparseable', 'no result found'],
    [
      'broken JSON',
      withoutResult({ source: 'json', problems: [{ code: 'RESULT_NOT_JSON', message: 'it is not JSON' }] }),
      'output_unparseable',
      'it is not JSON',
    ],
    [
      'anchors only',
      withoutResult({
        source: 'streams',
        anchors: { issue_ref: order.issue_ref, run_id: order.run_id, status: 'ok' },
        problems: [{ code: 'ONLY_ANCHORS', message: 'what it printed is not a result' }],
      }),
      'output_unparseable',
      'what it printed is not a result',
    ],
    [
      'anchors that say blocked',
      withoutResult({
        source: 'streams',
        anchors: { status: 'blocked' },
        problems: [{ code: 'ONLY_ANCHORS', message: 'what it printed is not a result' }],
      }),
      'output_unparseable',
      'what it printed is not a result',
    ],
    [
      'a result without its status',
      withoutResult({ source: 'json', problems: [{ code: 'KEY_MISSING', message: 'missing', path: 'status' }] }),
      'manual_intervention',
      'status: missing',
    ],
  ])('%s: asks a human', (_, reading, result_code, reason) => {
    expect(decideWith({ reading })).toEqual({
      action: 'needs-human',
      result_code,
      reason: `Cannot use the agent's result: ${reason}. Its process exited with code 0.`,
      next: 'Check the output, then enter the result by hand or retry.',
    });
  });

  test('asks a human about a result that did not come from a file', () => {
    expect(decideWith({ reading: { ...createReading(), source: 'streams' } }).action).toBe('needs-human');
    expect(decideWith({ reading: { ...createReading(), source: 'none' } }).action).toBe('needs-human');
  });

  test('the reason states how the process exited', () => {
    const broken = withoutResult({
      source: 'json',
      problems: [{ code: 'RESULT_NOT_JSON', message: 'it is not JSON' }],
    });
    const getReason = (end: Partial<DecisionInput>) => decideWith({ reading: broken, ...end }).reason;
    expect(getReason({ exitCode: 137 })).toContain('exited with code 137');
    expect(getReason({ exitCode: null, signal: 'SIGKILL' })).toContain('was terminated by signal SIGKILL');
    expect(getReason({ exitCode: null })).toContain('Its exit status is unknown.');
  });
});

describe('rule 6: the result lacks evidence', () => {
  test.each<[string, Partial<WorkResult>, string]>([
    ['no change', { changes: {} }, 'changes: it names neither a pull request nor a commit'],
    ['a change called none', { changes: { pr: 'none', commit: ' N/A ' } }, 'changes: it names neither'],
    [
      'tests that were not run',
      { tests: { command: 'npm test', result: 'not_run', evidence: 'skipped' } },
      'tests: the tests were not run',
    ],
  ])('ok with %s: asks a human', (_, changes, reason) => {
    const decision = decideWith({ reading: createReading(changes) });
    expect(decision).toMatchObject({ action: 'needs-human', result_code: 'manual_intervention' });
    expect(decision.reason).toContain(`The agent reports ok, but ${reason}`);
  });

  test.each(['ok', 'fail'] as const)('%s without tests: asks a human', (status) => {
    const { tests: _, ...untested } = result;
    const decision = decideWith({ reading: { ...createReading(), result: { ...untested, status } } });
    expect(decision).toMatchObject({ action: 'needs-human', result_code: 'manual_intervention' });
    expect(decision.reason).toContain('write n/a if there are none');
  });

  test('asks a human about a commit that does not exist', () => {
    const problems = [
      { code: 'COMMIT_NOT_FOUND', message: 'the repository has no commit 1a2b3c4d', path: 'changes.commit' },
    ];
    expect(decideWith({ reading: { ...createReading(), problems } })).toEqual({
      action: 'needs-human',
      result_code: 'manual_intervention',
      reason:
        'The agent reports ok, but changes.commit: the repository has no commit 1a2b3c4d. Its process exited with code 0.',
      next: 'Check what was done, then accept it, complete the result, or retry.',
    });
  });

  test('the error message about a commit that was not pushed ends with one full stop', () => {
    const message = 'Cannot push the branch "x": refused. Check the token.';
    const problems = [{ code: 'COMMIT_NOT_PUSHED', message, path: 'changes.commit' }];
    expect(decideWith({ reading: { ...createReading(), problems } }).reason).toBe(
      `The agent reports ok, but changes.commit: ${message} Its process exited with code 0.`,
    );
  });

  test('a notice changes nothing', () => {
    const notices = [{ code: 'RESULT_SHADOWED', message: 'both exist' }];
    expect(decideWith({ reading: { ...createReading(), notices } }).action).toBe('advance');
  });
});

describe('rule 7: the process exit is unknown', () => {
  test.each(['ok', 'fail', 'blocked'] as const)('%s: asks a human', (status) => {
    expect(decideWith({ reading: createReading({ status }), exitCode: null, signal: null })).toEqual({
      action: 'needs-human',
      result_code: 'manual_intervention',
      reason: `The agent reports ${status}, but its exit status is unknown.`,
      next: 'Check that the work is complete, then accept it or retry.',
    });
  });
});

describe('rule 8: something contradicts ok', () => {
  test.each<[string, Partial<DecisionInput>, string]>([
    ['exit code', { exitCode: 1 }, 'its process exited with code 1'],
    ['signal', { exitCode: null, signal: 'SIGTERM' }, 'its process was terminated by signal SIGTERM'],
    ['signal despite exit code 0', { signal: 'SIGTERM' }, 'its process was terminated by signal SIGTERM'],
    [
      'tests',
      { reading: createReading({ tests: { command: 'npm test', result: 'fail', evidence: '' } }) },
      'its tests failed',
    ],
    ['its own code', { reading: createReading({ result_code: 'ci_failed' }) }, 'it reports the code ci_failed'],
    ['its blockers', { reading: createReading({ blocked_by: ['acme/shop#3'] }) }, 'it is blocked by acme/shop#3'],
  ])('%s: asks a human and names both', (_, changes, reason) => {
    expect(decideWith(changes)).toEqual({
      action: 'needs-human',
      result_code: 'manual_intervention',
      reason: `The agent reports ok, but ${reason}.`,
      next: 'Check which one is correct, then accept, reject or retry.',
    });
  });
});

describe('the evidence', () => {
  const fact = (claim: 'commit' | 'tests' | 'pr', verdict: 'confirmed' | 'contradicted' | 'unchecked') =>
    ({ claim, by: 'sluice', verdict, detail: `The ${claim} is ${verdict}.` }) as const;

  test.each(['proven', 'reported'] as const)('contradicts the result: asks a human if the policy is %s', (policy) => {
    const evidence = [fact('commit', 'confirmed'), fact('tests', 'contradicted')];
    expect(decideWith({ evidence, policy })).toMatchObject({
      action: 'needs-human',
      result_code: 'evidence_contradicted',
      reason: expect.stringContaining('the evidence contradicts it. The tests is contradicted.'),
      evidence,
    });
  });

  test('contradicts a failure as well', () => {
    const evidence = [fact('commit', 'contradicted')];
    expect(decideWith({ evidence, reading: createReading({ status: 'fail' }) }).action).toBe('needs-human');
  });

  test('does not prove enough: asks a human if proof is required, otherwise the report counts', () => {
    const evidence = [{ ...fact('commit', 'unchecked'), by: 'worker' }] as const;
    expect(decideWith({ evidence, policy: 'proven' })).toMatchObject({
      action: 'needs-human',
      result_code: 'manual_intervention',
      reason: expect.stringContaining('this is not proven: neither a commit nor a pull request is confirmed'),
    });
    expect(decideWith({ evidence, policy: 'reported' })).toMatchObject({
      action: 'advance',
      reason: expect.stringContaining('Reported, not verified: commit.'),
    });
  });

  test('proves the result: advances, and the reason names what was verified', () => {
    const evidence = [fact('commit', 'confirmed'), fact('tests', 'confirmed')];
    expect(decideWith({ evidence, policy: 'proven', checks: ['unit'] })).toMatchObject({
      action: 'advance',
      reason: expect.stringContaining('Verified: commit, tests.'),
    });
  });

  test('was not checked: the reason does not count it as verified or reported', () => {
    const paths = { claim: 'paths', by: 'sluice', verdict: 'unchecked', detail: 'The order sets no paths.' } as const;
    const { reason } = decideWith({ evidence: [fact('commit', 'confirmed'), paths] });
    expect(reason).toMatch(/Verified: commit\. Not checked: paths\.$/);
  });

  test('of a report needs no commit', () => {
    const reading = createReading({ changes: {} });
    const reportCase = { reading: { ...reading, problems: [] }, order: { ...order, expects: 'report' } } as const;
    expect(decideWith(reportCase).action).toBe('advance');
  });
});

describe('rule 9: fail', () => {
  test.each([
    [undefined, 'test_failed'],
    ['none', 'test_failed'],
    ['ci_failed', 'ci_failed'],
    ['review_changes_requested', 'review_changes_requested'],
    ['of_my_own', 'test_failed'],
  ])('with the code %s: blocks with %s', (code, result_code) => {
    const changes = { status: 'fail' as const, summary: 'It does not compile.', ...(code && { result_code: code }) };
    expect(decideWith({ reading: createReading(changes), exitCode: 1 })).toMatchObject({
      action: 'blocked',
      result_code,
    });
  });

  test('the reason quotes the agent, its code, its exit, and tests that contradict it', () => {
    const reading = createReading({ status: 'fail', summary: 'It does\nnot compile.', result_code: 'of_my_own' });
    expect(decideWith({ reading, exitCode: 1 }).reason).toBe(
      'The agent reports fail (of_my_own): It does not compile. Its process exited with code 1. It also reports that its tests passed.',
    );
  });
});

describe('rule 9: fail with blockers', () => {
  test('the reason names them', () => {
    const reading = createReading({ status: 'fail', summary: 'No.', blocked_by: ['acme/shop#3', 'local#setup'] });
    expect(decideWith({ reading, exitCode: 1 }).reason).toContain('It is waiting for acme/shop#3, local#setup.');
  });
});

describe('rule 10: blocked', () => {
  const { tests: _, ...untested } = result;
  const minimalResult: WorkResult = { ...untested, status: 'blocked', changes: {}, summary: '' };

  test.each<[string, Partial<WorkResult>, string]>([
    ['without a code', {}, 'manual_intervention'],
    ['with blockers', { blocked_by: ['acme/shop#3'] }, 'dep_unresolved'],
    ['with a code', { result_code: 'permission_denied', blocked_by: ['acme/shop#3'] }, 'permission_denied'],
    ['with the code none', { result_code: 'none' }, 'manual_intervention'],
  ])('%s: blocks without any evidence', (_name, changes, result_code) => {
    const reading = { ...createReading(), result: { ...minimalResult, ...changes } };
    expect(decideWith({ reading })).toMatchObject({ action: 'blocked', result_code });
  });

  test('the reason quotes the agent', () => {
    const reading = {
      ...createReading(),
      result: { ...minimalResult, summary: 'No key.', blocked_by: ['acme/shop#3'] },
    };
    expect(decideWith({ reading }).reason).toBe(
      'The agent reports blocked: No key. It is waiting for acme/shop#3. Its process exited with code 0.',
    );
  });
});

describe('rule 11: ok with evidence and explicit tests', () => {
  test.each<[string, Partial<WorkResult>]>([
    ['a pull request and a commit', {}],
    ['a pull request alone', { changes: { pr: '#7' } }],
    ['a commit alone', { changes: { commit: '1a2b3c4d' } }],
    ['tests that are explicitly none', { tests: 'n/a' }],
    ['open questions', { questions: ['Which currency?'] }],
    ['the code none', { result_code: 'none' }],
  ])('%s: advances to review', (_, changes) => {
    expect(decideWith({ reading: createReading(changes) })).toEqual({
      action: 'advance',
      result_code: 'none',
      reason: 'The agent reports ok with evidence, and nothing contradicts it.',
      next: 'Review the change.',
    });
  });
});

describe('for every case', () => {
  const anyWord = fc.oneof(fc.constantFrom('', 'none', 'n/a', 'x'), fc.string({ unit: 'binary', maxLength: 8 }));
  const anyResult = fc.record(
    {
      issue_ref: fc.constantFrom(order.issue_ref, order.issue_ref, 'acme/shop#13'),
      run_id: fc.constantFrom(order.run_id, order.run_id, '2026-11-15-backend-0002'),
      status: fc.constantFrom('ok', 'ok', 'fail', 'blocked'),
      changes: fc.record({ pr: anyWord, commit: anyWord }, { requiredKeys: [] }),
      tests: fc.oneof(
        fc.constant('n/a' as const),
        fc.record({
          command: anyWord,
          result: fc.constantFrom('pass', 'fail', 'n/a', 'not_run', 'not_recognised'),
          evidence: anyWord,
        }),
      ),
      summary: anyWord,
      result_code: fc.oneof(fc.constantFrom(...RESULT_CODES), anyWord),
      blocked_by: fc.array(anyWord, { maxLength: 2 }),
      questions: fc.array(anyWord, { maxLength: 2 }),
    },
    { requiredKeys: ['issue_ref', 'run_id', 'status', 'changes', 'summary'] },
  );
  const anyReading: fc.Arbitrary<Reading> = fc.record(
    {
      source: fc.constantFrom('json' as const, 'text' as const, 'streams' as const, 'none' as const),
      result: anyResult,
      problems: fc.oneof(
        { weight: 3, arbitrary: fc.constant([]) },
        fc.array(fc.record({ code: fc.constantFrom(...PROBLEM_CODES), message: anyWord }), { maxLength: 2 }),
      ),
      draft: fc.anything(),
    },
    { requiredKeys: ['source', 'problems'] },
  );
  const anyCase: fc.Arbitrary<DecisionInput> = fc.record(
    {
      order: fc.constant(order),
      reading: fc.oneof(fc.constant(createReading()), anyReading),
      activeRunId: fc.oneof(
        { weight: 4, arbitrary: fc.constant(order.run_id) },
        fc.constantFrom(null, undefined, '', 'x'),
      ),
      exitCode: fc.constantFrom(0, 0, 1, null),
      signal: fc.constantFrom(null, null, 'SIGKILL'),
      unresolved: fc.array(anyWord, { maxLength: 1 }),
      startError: anyWord,
    },
    { requiredKeys: ['order', 'reading', 'activeRunId', 'exitCode', 'signal'] },
  );

  test('only an ok from the active run with evidence, explicit tests and exit code 0 advances', () => {
    let advanced = 0;
    fc.assert(
      fc.property(anyCase, (decisionCase) => {
        if (decide(decisionCase).action !== 'advance') return;
        advanced += 1;
        const { reading } = decisionCase;
        const isMeaningful = (text = '') => !['', 'none', 'n/a'].includes(text.trim().toLowerCase());
        expect(decisionCase).toMatchObject({ activeRunId: order.run_id, exitCode: 0, signal: null });
        expect(decisionCase.unresolved ?? []).toEqual([]);
        expect(decisionCase.startError).toBeUndefined();
        expect(reading.problems).toEqual([]);
        expect(['json', 'text']).toContain(reading.source);
        expect(reading.result).toMatchObject({ issue_ref: order.issue_ref, run_id: order.run_id, status: 'ok' });
        expect([reading.result?.changes.pr, reading.result?.changes.commit].some(isMeaningful)).toBe(true);
        const tests = reading.result?.tests;
        expect(tests === 'n/a' || ['pass', 'n/a', 'not_recognised'].includes(tests?.result ?? '')).toBe(true);
      }),
      { numRuns: 3000 },
    );
    expect(advanced).toBeGreaterThan(15);
  });

  test('the decision is complete, and has a code unless it advances', () => {
    fc.assert(
      fc.property(anyCase, (decisionCase) => {
        const decision = decide(decisionCase);
        expect(decision.reason).toMatch(/^[A-Z].*\.$/u);
        expect(decision.next).toMatch(/^[A-Z].*\.$/u);
        expect(decision.reason.length).toBeLessThan(3000);
        expect(RESULT_CODES).toContain(decision.result_code);
        expect(decision.result_code === 'none').toBe(decision.action === 'advance');
        expect(decide(decisionCase)).toEqual(decision);
      }),
      { numRuns: 1000 },
    );
  });
});
