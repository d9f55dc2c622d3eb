import { describe, expect, test } from 'vitest';
import { order } from '../fixtures/order.js';
import { findAnchors, readStreams } from './read-work-result.js';

describe('findAnchors', () => {
  test.each([
    ['lines', 'IssueRef: acme/shop#12\nRunId: 2026-11-15-backend-0001\nStatus: OK\n'],
    ['JSON', '{"issue_ref": "acme/shop#12", "run_id":"2026-11-15-backend-0001","status":"ok"}'],
    ['settings', "issue_ref=acme/shop#12 RUN_ID='2026-11-15-backend-0001' status=ok"],
  ])('finds them in %s', (_, text) => {
    expect(findAnchors(text)).toEqual({ issue_ref: order.issue_ref, run_id: order.run_id, status: 'ok' });
  });

  test('uses the last occurrence', () => {
    const [first, last] = [order, { issue_ref: 'acme/shop#13', run_id: '2026-11-15-backend-0002' }];
    const print = (one: typeof last, status: string) => JSON.stringify({ ...one, status });
    const { issue_ref, run_id } = first;
    const text = `${print({ issue_ref, run_id }, 'ok')}\n${print(last, 'fail')}`;
    expect(findAnchors(text)).toEqual({ ...last, status: 'fail' });
  });

  test('ignores text that only looks like an anchor', () => {
    expect(findAnchors('Status: 200\nRunId: 7\nIssueRef: 12\nexitstatus: ok\nstatus quo: ok')).toEqual({});
  });
});

describe('output of an agent without a result file', () => {
  test('yields anchors and a draft, never a result', () => {
    const stdout = `Working…\n{"IssueRef":"acme/shop#12","RunId":"2026-11-15-backend-0001","Status":"ok","Summary":"Done"}`;
    expect(readStreams({ stdout, stderr: 'Status: fail' })).toEqual({
      source: 'streams',
      path: 'stdout',
      anchors: { issue_ref: order.issue_ref, run_id: order.run_id, status: 'ok' },
      problems: [{ code: 'ONLY_ANCHORS', message: 'no result file found, and printed output does not count' }],
      draft: { issue_ref: order.issue_ref, run_id: order.run_id, status: 'ok', summary: 'Done' },
    });
  });

  test.each([['All done.'], ['x'.repeat(65_536)]])(
    'can be a rejected answer: it is kept, and the streams are ignored',
    (text) => {
      const answer = { text: `  ${text}\n`, problem: 'the agent answered without tags' };
      expect(readStreams({ stdout: 'Status: ok', answer })).toEqual({
        source: 'none',
        problems: [{ code: 'RESULT_MISSING', message: 'the agent answered without tags' }],
        answer: text,
      });
    },
  );

  test('can be a rejected answer with anchors: it is kept too', () => {
    const text = `Run ${order.run_id} is done.\nStatus: ok`;
    expect(readStreams({ answer: { text, problem: 'the agent answered without tags' } })).toMatchObject({
      source: 'streams',
      path: 'answer',
      anchors: { status: 'ok' },
      answer: text,
    });
  });

  test('can be a rejected answer that is longer than a comment: its length is recorded', () => {
    const answer = { text: 'x'.repeat(70_000), problem: 'the agent answered without tags' };
    expect(readStreams({ answer })).toMatchObject({ answer: 'x'.repeat(65_536), answer_length: 70_000 });
  });

  test('can be on stderr, and in bytes', () => {
    expect(readStreams({ stderr: new TextEncoder().encode('Status: blocked\n') })).toMatchObject({
      source: 'streams',
      path: 'stderr',
      anchors: { status: 'blocked' },
    });
  });

  test('without an anchor is ignored', () => {
    const missing = {
      source: 'none',
      problems: [{ code: 'RESULT_MISSING', message: 'no work_result.json or work_result.txt found' }],
    };
    expect(readStreams({})).toEqual(missing);
    expect(readStreams({ stdout: 'All good!', stderr: '' })).toEqual(missing);
  });

  test('is searched from its end', () => {
    const stdout = `Status: ok\n${'x'.repeat(300_000)}`;
    expect(readStreams({ stdout }).source).toBe('none');
    expect(readStreams({ stdout: new TextEncoder().encode(stdout) }).source).toBe('none');
    expect(readStreams({ stdout: `${'x'.repeat(300_000)}\nStatus: ok` }).source).toBe('streams');
  });
});
