import { describe, expect, test } from 'vitest';
import { makeFolder } from '../../test/temporary-folder.js';
import { getIssueState, renderComment } from './comment/render-comment.js';
import { decide } from './decide/decide.js';
import { createExecution } from './execution.js';
import { order, result } from './fixtures/order.js';
import { readWorkResult } from './reading/read-work-result.js';
import { injectOrder } from './dispatch/order/inject-order.js';
import { WRAPPER_ENGINES } from './wrappers/wrappers.js';

/*
 * The wrapper requirements that are pure rules. Requirements that need a lead, a store or a process are tested in the
 * `lead` folder.
 */

const unversioned = { ...order, repo_dir: '/nowhere/at/all' };
const text = [
  `IssueRef: ${order.issue_ref}`,
  `RunId: ${order.run_id}`,
  'Status: ok',
  'PR: none',
  'Commit: 1a2b3c4d',
  'Tests: npm test => pass',
];

/** Decides on an agent's files and output. */
async function settle({
  files = {},
  stdout = '',
  activeRunId = order.run_id,
}: {
  readonly files?: Readonly<Record<string, string>>;
  readonly stdout?: string;
  readonly activeRunId?: string;
}) {
  const dir = await makeFolder(files);
  const reading = await readWorkResult({ dir, stdout, stderr: '', order: unversioned });
  const decision = decide({ order, reading, activeRunId, exitCode: 0, signal: null });
  return { reading, decision, comment: renderComment({ order, reading, decision }) };
}

const asText = (lines: readonly string[]) => ({ 'work_result.txt': `${lines.join('\n')}\n\nThe basket adds up.\n` });
const asJson = (value: unknown) => ({ 'work_result.json': JSON.stringify(value) });

test('every wrapper type is given the same order and is read by the same rules', () => {
  for (const type of Object.keys(WRAPPER_ENGINES)) {
    const { files, env } = injectOrder({ type, command: ['worker'] }, order, '/data/runs/1');
    expect(JSON.parse(files[0]?.text ?? '')).toEqual(order);
    expect(env).toMatchObject({ SLUICE_ISSUE_REF: order.issue_ref, SLUICE_RUN_ID: order.run_id });
  }
});

test('JSON and text yield the same result', async () => {
  const tests = { command: 'npm test', result: 'pass', evidence: '' };
  const same = { ...result, changes: { commit: '1a2b3c4d' }, tests };
  const json = await settle({ files: asJson(same) });
  const plain = await settle({ files: asText(text) });
  expect(json.reading.result).toEqual(same);
  expect(plain.reading.result).toEqual(same);
  expect(json.decision).toEqual(plain.decision);
  expect(json.comment).toBe(plain.comment);
});

describe('text uses fixed header keys', () => {
  test.each(['IssueRef', 'RunId', 'Status', 'Commit', 'Tests'])('%s is required', async (key) => {
    const { decision } = await settle({ files: asText(text.filter((line) => !line.startsWith(key))) });
    expect(decision.action).toBe('needs-human');
  });

  test('keys in the free text do not count', async () => {
    const files = { 'work_result.txt': `${text.slice(0, 3).join('\n')}\n\n${text.slice(3).join('\n')}\n` };
    expect((await settle({ files })).decision.action).toBe('needs-human');
  });
});

test('if JSON and text both exist, JSON counts, and the source is recorded', async () => {
  const { reading } = await settle({ files: { ...asJson({ ...result, status: 'fail' }), ...asText(text) } });
  expect(reading).toMatchObject({ source: 'json', path: 'work_result.json', result: { status: 'fail' } });
});

test.each(['ok', 'fail', 'blocked'] as const)(
  'the result of a run that is not active is archived and changes nothing: %s',
  async (status) => {
    const files = asJson({ ...result, status });
    const { decision } = await settle({ files, activeRunId: '2026-11-15-backend-0002' });
    expect(decision).toMatchObject({ action: 'archive', result_code: 'stale_run' });
    expect(getIssueState(decision)).toBeUndefined();
  },
);

test('the result is mapped to the fields of the comment', async () => {
  const { comment } = await settle({ files: asJson({ ...result, questions: ['Which currency?'] }) });
  for (const line of [
    'IssueRef: acme/shop#12',
    'RunId: 2026-11-15-backend-0001',
    'Trigger: workrun:2026-11-15-backend-0001',
    '> The basket adds up.',
    '- PR: https://forge.example/acme/shop/pull/7',
    '- Commit: git:1a2b3c4d',
    '- Command: npm test',
    '- Result: pass',
    '- Evidence: 42 passed',
    '- Which currency?',
  ]) {
    expect(comment.split('\n')).toContain(line);
  }
});

test.each<[string, Readonly<Record<string, string>>]>([
  ['unreadable', { 'work_result.json': '{"Status": "ok",' }],
  ['without evidence', asJson({ ...result, changes: {} })],
  ['without tests', asJson({ ...result, tests: {} })],
])('a result that is %s goes to a human, with the reason and the next step', async (_, files) => {
  const { decision, comment } = await settle({ files });
  expect(decision.action).toBe('needs-human');
  expect(comment).toContain('Status: needs-human');
  expect(comment).toContain(`## Summary\n${decision.reason}`);
  expect(comment).toContain(`## Next\n${decision.next}`);
});

test('an execution records wrapper type, time, exit code, encoding and how its result was read', async () => {
  const { reading, decision } = await settle({ files: asText(text) });
  const record = createExecution({
    id: '1',
    order,
    run: '01KA3RUN',
    workerType: 'codex-cli',
    durationMs: 1200,
    exitCode: 0,
    signal: null,
    reading,
    decision,
    at: '2026-11-15T10:00:00.000Z',
  });
  expect(record).toMatchObject({
    worker_type: 'codex-cli',
    duration_ms: 1200,
    exit_code: 0,
    result_encoding: 'text',
    parse_path: 'work_result.txt',
    parse_status: 'parsed',
    parser_version: 'work-result/1',
  });
});

test('an execution without a readable result records the version of the reader too', async () => {
  const { reading, decision } = await settle({ files: { 'work_result.json': '{' } });
  const at = '2026-11-15T10:00:00.000Z';
  const execution = { id: '1', order, run: '01KA3RUN', workerType: 'codex-cli', exitCode: 0, signal: null } as const;
  expect(createExecution({ ...execution, reading, decision, at })).toMatchObject({
    parse_status: 'unreadable',
    parser_version: 'work-result/1',
  });
});

test('a complete result in text goes to review', async () => {
  const { decision, comment } = await settle({ files: asText(text) });
  expect(decision.action).toBe('advance');
  expect(comment).toContain('Action: update\nStatus: review\nResultCode: none\n');
});

describe('a missing field never leads to review or done', () => {
  test.each(['issue_ref', 'run_id', 'status', 'changes', 'tests'])('%s', async (key) => {
    const { decision } = await settle({ files: asJson({ ...result, [key]: undefined }) });
    expect(getIssueState(decision)).toBe('needs-human');
  });

  test('a result that was only printed', async () => {
    const { reading, decision } = await settle({ stdout: text.join('\n') });
    expect(reading.anchors).toEqual({ issue_ref: order.issue_ref, run_id: order.run_id, status: 'ok' });
    expect(getIssueState(decision)).toBe('needs-human');
  });
});

test('a late result of an old run does not count for the active run', async () => {
  const late = await settle({ files: asJson({ ...result, run_id: '2026-11-14-backend-0001' }) });
  expect(late.decision).toMatchObject({ action: 'needs-human', result_code: 'stale_run' });
  expect(late.comment).not.toContain('git:1a2b3c4d');
});

test('an execution record shows how a result was read and why it was decided that way', async () => {
  const { reading, decision } = await settle({ files: { 'work_result.json': 'not JSON', ...asText(text) } });
  const end = { exitCode: 0, signal: null, at: '2026-11-15T10:00:00.000Z' };
  const record = createExecution({ id: '1', order, run: '1', workerType: 'script', reading, decision, ...end });
  expect(record).toMatchObject({
    result_encoding: 'json',
    parse_path: 'work_result.json',
    parse_status: 'unreadable',
    problems: [{ code: 'RESULT_NOT_JSON' }, { code: 'RESULT_SHADOWED' }],
    decision: 'needs-human',
    result_code: 'output_unparseable',
    reason: decision.reason,
  });
});
