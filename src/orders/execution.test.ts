import { describe, expect, test } from 'vitest';
import { decide } from './decide/decide.js';
import { READER_VERSION, createExecution, createItem, getParseStatus } from './execution.js';
import { order, createReading } from './fixtures/order.js';

const end = { exitCode: 0, signal: null };
const reading = createReading();
const decision = decide({ order, reading, activeRunId: order.run_id, ...end });
const execution = { id: 'e1', order, run: '01KA3RUN', reading, decision, at: '2026-11-15T10:00:05.000Z', ...end };

describe('createExecution', () => {
  test('records the command, its exit, the parsed result and the decision', () => {
    expect(
      createExecution({
        ...execution,
        workerType: 'codex-cli',
        command: ['codex', 'exec'],
        workerVersion: '0.1.0',
        startedAt: '2026-11-15T10:00:00.000Z',
        durationMs: 5000,
        exitCode: 137,
        signal: 'SIGKILL',
      }),
    ).toEqual({
      id: 'e1',
      issue_ref: order.issue_ref,
      run_id: order.run_id,
      run: '01KA3RUN',
      worker: 'codex-cli',
      worker_type: 'codex-cli',
      command: ['codex', 'exec'],
      worker_version: '0.1.0',
      parser_version: READER_VERSION,
      started_at: '2026-11-15T10:00:00.000Z',
      duration_ms: 5000,
      exit_code: 137,
      signal: 'SIGKILL',
      result_encoding: 'json',
      parse_path: 'work_result.json',
      parse_status: 'parsed',
      problems: [],
      decision: 'advance',
      result_code: 'none',
      reason: decision.reason,
      who: null,
      at: '2026-11-15T10:00:05.000Z',
    });
  });

  test('records an agent that never ran with unknown values, and who decided', () => {
    const record = createExecution({ ...execution, workerType: 'script', exitCode: null, who: 'Ada' });
    expect(record).toMatchObject({
      command: [],
      worker_version: null,
      parser_version: READER_VERSION,
      started_at: null,
      duration_ms: null,
      exit_code: null,
      who: 'Ada',
    });
  });

  test('records notices together with problems', () => {
    const problem = { code: 'TESTS_MISSING', message: 'none' };
    const notice = { code: 'RESULT_SHADOWED', message: 'both' };
    const readingWithNotice = { ...reading, problems: [problem], notices: [notice] };
    expect(createExecution({ ...execution, workerType: 'script', reading: readingWithNotice }).problems).toEqual([
      problem,
      notice,
    ]);
  });
});

test.each([
  ['parsed', reading],
  ['incomplete', { ...reading, problems: [{ code: 'TESTS_MISSING', message: '' }] }],
  ['incomplete', { source: 'text' as const, problems: [{ code: 'KEY_MISSING', message: '' }] }],
  ['unreadable', { source: 'json' as const, problems: [{ code: 'RESULT_NOT_JSON', message: '' }] }],
  [
    'unreadable',
    {
      source: 'json' as const,
      problems: [
        { code: 'KEY_MISSING', message: '' },
        { code: 'RESULT_NOT_JSON', message: '' },
      ],
    },
  ],
  ['anchors', { source: 'streams' as const, problems: [] }],
  ['missing', { source: 'none' as const, problems: [] }],
])('the parse status is %s', (status, given) => {
  expect(getParseStatus(given)).toBe(status);
});

test('an item has the reason, the next step and the whole reading', () => {
  const broken = { source: 'none' as const, problems: [{ code: 'RESULT_MISSING', message: 'none' }] };
  const humanDecision = decide({ order, reading: broken, activeRunId: order.run_id, exitCode: 1, signal: null });
  expect(createItem({ ...execution, id: 'i1', reading: broken, decision: humanDecision, exitCode: 1 })).toEqual({
    id: 'i1',
    issue_ref: order.issue_ref,
    run_id: order.run_id,
    run: '01KA3RUN',
    reason: humanDecision.reason,
    next: humanDecision.next,
    result_code: 'output_unparseable',
    reading: broken,
    exit_code: 1,
    signal: null,
    created_at: '2026-11-15T10:00:05.000Z',
    resolution: null,
  });
});
