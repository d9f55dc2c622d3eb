import { readFile } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeFolder } from '../../../../test/temporary-folder.js';
import { runDemo } from './run-demo.js';

describe('the demo orders', () => {
  it('of two scripts and a recorded agent end in a delivered comment, and a script that only prints ends in the inbox', async () => {
    const data = await makeFolder({});
    const { orders, inbox } = await runDemo({ data });
    expect(orders.map(({ worker, source, action }) => [worker, source, action])).toEqual([
      ['json-agent', 'json', 'advance'],
      ['text-agent', 'text', 'advance'],
      ['print-only-agent', 'streams', 'needs-human'],
      ['codex-cli', 'json', 'advance'],
    ]);
    for (const { comment, delivered_to, run_id } of orders) {
      expect(comment).toContain(`RunId: ${run_id}\n`);
      expect(await readFile(delivered_to ?? '', 'utf8')).toContain(comment?.trimEnd());
    }
    const proof = orders[3]?.evidence.map(({ claim, by, verdict }) => `${claim} ${by} ${verdict}`);
    expect(proof).toEqual([
      'result sluice confirmed',
      'commit sluice confirmed',
      'paths sluice unchecked',
      'tests sluice confirmed',
      'tests worker unchecked',
    ]);
    expect(orders[3]?.comment).toContain('committed by Sluice');
    expect(inbox.map(({ issue_ref }) => issue_ref)).toEqual([orders[2]?.issue_ref]);
  });

  it('reports a demo that does not finish', async () => {
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort(new DOMException('late', 'TimeoutError')));
    onTestFinished(() => void vi.restoreAllMocks());
    await expect(runDemo({ data: await makeFolder({}) })).rejects.toMatchObject({
      code: 'DEMO_TIMED_OUT',
      message: expect.stringContaining('Try again'),
    });
  });

  it('makes a real commit, in a separate repository', async () => {
    const data = await makeFolder({});
    execFileSync('git', ['-C', data, 'init', '--quiet']);
    const { orders } = await runDemo({ data: join(data, 'inside') });
    const [, sha = 'none'] = /Commit: git:([0-9a-f]{40})/.exec(orders[0]?.comment ?? '') ?? [];
    const log = ['-C', join(data, 'inside/demo-repository'), 'log', '--all', '--format=%H'];
    expect(execFileSync('git', log, { encoding: 'utf8' })).toContain(sha);
    expect(() => execFileSync('git', ['-C', data, 'rev-parse', 'HEAD'], { stdio: 'ignore' })).toThrow('rev-parse');
  });

  it('works without git: the agent then names a pull request', async () => {
    vi.stubEnv('PATH', '/nowhere');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { orders } = await runDemo({ data: await makeFolder({}) });
    expect(orders.map(({ action }) => action)).toEqual(['advance', 'advance', 'needs-human']);
    expect(orders[0]?.comment).toContain('- PR: https://example.org/pull/');
  });

  it('can be run again in the same folder', async () => {
    const data = await makeFolder({});
    const first = await runDemo({ data });
    const second = await runDemo({ data });
    expect(second.orders.map(({ action }) => action)).toEqual(first.orders.map(({ action }) => action));
    expect(second.inbox).toHaveLength(1);
  });
});
