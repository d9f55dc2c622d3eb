import { describe, expect, it } from 'vitest';
import { cleanEnd, goodResult, makeRequest, startLead } from './fixtures/start-lead.js';

/**
 * Starts a lead with one inbox item: a result with these changes, or an order without a result if `changes` is null.
 */
async function startWithItem(changes: Readonly<Record<string, unknown>> | null = { Tests: undefined }) {
  const site = await startLead();
  const submitted = await site.lead.submit(makeRequest({ request_id: 'r-1' }));
  if (changes !== null) await site.report(submitted, 'work_result.json', goodResult(submitted, changes));
  await site.lead.settle(cleanEnd(submitted));
  const [item] = await site.inbox();
  if (item === undefined) throw new Error('nothing waits');
  return { ...site, submitted, item, by: { id: item.id, who: 'Ada', why: 'I looked at it' } };
}

describe('a human decision', () => {
  it('accept: the issue goes to review, with who and why in the execution and the comment', async () => {
    const { lead, by, findState, inbox, executions, comments } = await startWithItem();
    const { decision, item } = await lead.resolve({ ...by, action: 'accept' });
    expect(decision.action).toBe('advance');
    expect(item.resolution).toMatchObject({ action: 'accept', who: 'Ada', why: 'I looked at it', decision: 'advance' });
    expect(await findState()).toBe('review');
    expect(await inbox()).toEqual([]);
    expect((await executions())[0]).toMatchObject({ who: 'Ada', decision: 'advance' });
    await lead.deliver();
    expect(await comments()).toMatch(
      new RegExp(`Action: accept\\nStatus: review\\nResultCode: none\\nReadUpTo: none\\nTrigger: resolve:${by.id}\\n`),
    );
  });

  it('is recorded with the wrapper type, the exit and the reader of the run', async () => {
    const { lead, report, inbox, executions } = await startLead({
      wrappers: { lint: { type: 'script', command: ['true'] } },
    });
    const submitted = await lead.submit(makeRequest({ worker: 'lint' }));
    await report(submitted, 'work_result.json', goodResult(submitted));
    await lead.settle({ ...cleanEnd(submitted), exitCode: 3 });
    const id = (await inbox())[0]?.id ?? '';
    await lead.resolve({ id, who: 'Ada', why: 'fine', action: 'accept' });
    const expected = { worker_type: 'script', exit_code: 3, result_encoding: 'json', parse_status: 'parsed' };
    expect(await executions()).toMatchObject([
      { ...expected, who: 'Ada', parser_version: 'work-result/1' },
      { ...expected, who: null, parser_version: 'work-result/1' },
    ]);
  });

  it('reject: the issue is blocked', async () => {
    const { lead, by, findState } = await startWithItem();
    expect((await lead.resolve({ ...by, action: 'reject' })).decision.action).toBe('blocked');
    expect(await findState()).toBe('blocked');
  });

  it('edit: the corrected result is accepted and shown', async () => {
    const { lead, by, findState, comments } = await startWithItem(null);
    const result = { Status: 'ok', Changes: { PR: '#99' }, Tests: 'n/a', Summary: 'By hand.' };
    const { item } = await lead.resolve({ ...by, action: 'edit', result });
    expect(item.resolution).toMatchObject({ result: { status: 'ok', changes: { pr: '#99' }, tests: 'n/a' } });
    expect(await findState()).toBe('review');
    await lead.deliver();
    expect(await comments()).toContain('- PR: #99');
  });

  it('retry: the order is submitted again under a new run id', async () => {
    const { lead, by, submitted, findState, store } = await startWithItem();
    const { order, item } = await lead.resolve({ ...by, action: 'retry' });
    expect(order?.run_id).toMatch(/-backend-0002$/);
    expect(order).toMatchObject({ instructions: 'Fix it.', worker: 'script' });
    expect(order).not.toHaveProperty('request_id');
    expect(item.resolution?.new_run_id).toBe(order?.run_id);
    expect(await findState()).toBe('doing');
    expect((await store.findIssue('acme/shop#12'))?.active_run_id).toBe(order?.run_id);
    expect(await lead.submit(makeRequest({ request_id: 'r-1' }))).toMatchObject({ order: submitted.order });
  });

  it('has line comments that are recorded, shown in the issue comment, and passed to the next run', async () => {
    const { lead, by, store, comments } = await startWithItem();
    const lineComments = [
      { path: 'src/a.ts', line: 3, side: 'new', text: 'Use the\nhelper.' },
      { path: '<b>\n## Next', line: 1, side: 'old', text: 'Keep it.' },
    ] as const;
    const { order, item } = await lead.resolve({ ...by, action: 'retry', comments: lineComments });
    expect(item.resolution).toMatchObject({ comments: lineComments });
    expect(order?.instructions).toBe(`Fix it.

## Review of run ${item.run_id}
Ada reviewed that run's change and requests corrections: I looked at it

- src/a.ts, line 3: Use the
  helper.
- <b> ## Next, line 1 before the change: Keep it.`);
    expect((await store.findOrder('acme/shop#12', order?.run_id ?? ''))?.order.instructions).toBe(order?.instructions);
    await lead.deliver();
    expect(await comments()).toContain(
      '\n- src/a.ts, line 3: Use the helper.\n- &lt;b> ## Next, line 1 before the change: Keep it.\n',
    );
  });

  it.each([
    ['a non-list', 'all fine'],
    ['a line 0', [{ path: 'a', line: 0, side: 'new', text: 'x' }]],
    ['another side', [{ path: 'a', line: 1, side: 'left', text: 'x' }]],
    ['empty text', [{ path: 'a', line: 1, side: 'new', text: ' ' }]],
    ['unknown keys', [{ path: 'a', line: 1, side: 'new', text: 'x', html: '<b>' }]],
    ['too many', Array.from({ length: 101 }, () => ({ path: 'a', line: 1, side: 'new', text: 'x' }))],
  ])('cannot have a line comment with %s', async (_, comments) => {
    const { lead, by, findState } = await startWithItem();
    const request = { ...by, action: 'retry', comments: comments as never } as const;
    await expect(lead.resolve(request)).rejects.toMatchObject({
      code: 'INVALID_RESOLUTION',
      message: expect.stringContaining('comments'),
    });
    expect(await findState()).toBe('needs-human');
  });

  it.each([
    ['no result was read', null],
    ['the result belongs to another run', { RunID: '2026-01-01-backend-0009' }],
    ['the result belongs to another issue', { IssueRef: 'acme/shop#99' }],
  ])('cannot accept if %s', async (_, changes) => {
    const { lead, by, findState, inbox } = await startWithItem(changes);
    await expect(lead.resolve({ ...by, action: 'accept' })).rejects.toMatchObject({ code: 'NOTHING_TO_ACCEPT' });
    expect(await findState()).toBe('needs-human');
    expect(await inbox()).toHaveLength(1);
  });

  it('cannot enter a result that is not acceptable', async () => {
    const { lead, by, findState } = await startWithItem(null);
    const result = { Status: 'ok', Changes: {}, Summary: 'trust me' };
    await expect(lead.resolve({ ...by, action: 'edit', result })).rejects.toMatchObject({
      code: 'INVALID_WORK_RESULT',
    });
    expect(await findState()).toBe('needs-human');
  });

  it('is made once: a second decision is rejected and names the first', async () => {
    const { lead, by, outbox } = await startWithItem();
    const outcomes = await Promise.allSettled([
      lead.resolve({ ...by, action: 'accept' }),
      lead.resolve({ ...by, action: 'reject', who: 'Bob' }),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(outcomes[1]).toMatchObject({
      reason: { code: 'CONFLICT', message: expect.stringContaining('Ada chose "accept"') },
    });
    expect((await outbox()).filter(({ trigger }) => trigger.startsWith('resolve:'))).toHaveLength(1);
  });

  it('cannot resolve an item whose run was replaced meanwhile', async () => {
    const { lead, by, findState, store } = await startWithItem();
    const { order } = await lead.resolve({ ...by, action: 'retry' });
    await expect(lead.resolve({ ...by, action: 'accept' })).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await findState()).toBe('doing');
    expect((await store.findIssue('acme/shop#12'))?.active_run_id).toBe(order?.run_id);
  });

  it.each([
    ['an unknown action', { action: 'approve' }],
    ['an empty name', { action: 'accept', who: ' ' }],
    ['no reason', { action: 'accept', why: '' }],
    ['an edit without a result', { action: 'edit' }],
    ['a result without an edit', { action: 'accept', result: {} }],
  ])('is rejected with %s', async (_, changes) => {
    const { lead, by } = await startWithItem();
    await expect(lead.resolve({ ...by, ...changes } as never)).rejects.toMatchObject({ code: 'INVALID_RESOLUTION' });
  });

  it('reports an unknown item', async () => {
    const { lead, by } = await startWithItem();
    await expect(lead.resolve({ ...by, id: 'nope', action: 'accept' })).rejects.toMatchObject({
      code: 'ITEM_NOT_FOUND',
    });
  });
});
