import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { findMarkedProcesses } from '../process/terminate-orphans.js';
import type { RunLimits, RunSpec } from '../../store/records/run-spec.js';
import { startRun } from '../start-run.js';
import { makeSite } from './fixtures/make-site.js';
import type { Site, Step } from './fixtures/make-site.js';
import { runToEnd } from './run.contract.js';

const HANG: Step = { sleep: 60_000 };

function makeSpec(site: Site, limits: RunLimits = {}, more: Partial<RunSpec> = {}): RunSpec {
  return { engine: 'command', command: site.agent, workdir: site.workdir, limits, ...more };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('a cancel', () => {
  it('ends the run and its processes', async () => {
    const site = await makeSite([{ child: true }, { print: 'working\n' }, HANG]);
    const { result, meta } = await runToEnd(makeSpec(site), site, {
      onEvent: (event, run) => event.type === 'assistant.message.delta' && void run.cancel(),
    });
    expect(result).toMatchObject({ status: 'canceled', error: { category: 'canceled', code: 'RUN_CANCELED' } });
    expect(await meta(1)).toMatchObject({ verdict: 'canceled', signal: 'SIGTERM', reason: 'The run was canceled.' });
    expect((await site.calls()).filter(({ pid }) => isAlive(pid))).toEqual([]);
  });

  it('before the start prevents the start', async () => {
    const site = await makeSite([HANG]);
    const run = startRun(makeSpec(site), site);
    await run.cancel();
    expect(await run.result).toMatchObject({ status: 'canceled', attempts: 1 });
    expect(await site.calls()).toEqual([]);
  });

  it('after the end has no effect', async () => {
    const site = await makeSite([{ print: 'x\n' }]);
    const { run, result } = await runToEnd(makeSpec(site), site);
    await run.cancel();
    expect(await run.result).toBe(result);
    expect(result.status).toBe('success');
  });

  it('takes precedence over output that passes', async () => {
    const site = await makeSite([{ print: '{"a":1}\n' }, HANG]);
    const { result } = await runToEnd(makeSpec(site, {}, { contract: {} }), site, {
      onEvent: (_, run) => void run.cancel(),
    });
    expect(result).toMatchObject({ status: 'canceled', repair_level: 'none' });
    expect(result).not.toHaveProperty('value');
  });

  it('kills a process that ignores SIGTERM', async () => {
    const site = await makeSite([{ stubborn: true }, { print: 'never\n' }, HANG]);
    const { meta } = await runToEnd(makeSpec(site), site, { onEvent: (_, run) => void run.cancel() });
    expect(await meta(1)).toMatchObject({ verdict: 'canceled', signal: 'SIGKILL' });
  });
});

describe('a limit', () => {
  const cases: [string, readonly Step[], RunLimits, string, RegExp][] = [
    ['of time', [{ print: 'a\n' }, HANG], { time_s: 0.6 }, 'RUN_TIMED_OUT', /limits\.time_s \(0\.6 s\)/],
    ['of silence', [{ print: 'a\n' }, HANG], { idle_s: 0.4 }, 'RUN_TIMED_OUT', /limits\.idle_s \(0\.4 s\)/],
    [
      'of bytes',
      [{ flood: 1e9 }],
      { output_bytes: 100_000 },
      'RUN_LIMIT_EXCEEDED',
      /limits\.output_bytes \(100000 bytes\)/,
    ],
    [
      'of one line',
      [{ print: 'a\n' }, { flood: 1e9, endless: true }],
      { line_bytes: 5000 },
      'RUN_LIMIT_EXCEEDED',
      /limits\.line_bytes \(5000 bytes\)/,
    ],
  ];

  it.each(cases)('%s ends the run with its own code', async (_, steps, limits, code, message) => {
    const site = await makeSite(steps);
    const { result, meta } = await runToEnd(makeSpec(site, limits), site);
    expect(result).toMatchObject({ status: 'failed', error: { code } });
    expect(result.error?.message).toMatch(message);
    expect(await meta(1)).toMatchObject({ reason: result.error?.message });
    expect((await site.calls()).filter(({ pid }) => isAlive(pid))).toEqual([]);
  });

  it.each([
    [{ events: 500 }, /limits\.events \(500\)/u],
    [{ stored_bytes: 20_000 }, /limits\.stored_bytes \(20000 bytes\)/u],
  ])('on storage ends the run, with all captured output stored: %o', async (limits, message) => {
    const site = await makeSite([{ print: 'a\n'.repeat(20_000) }, HANG]);
    const { result, events, file } = await runToEnd(makeSpec(site, limits), site);
    expect(result).toMatchObject({ status: 'failed', error: { code: 'RUN_STORAGE_EXCEEDED', category: 'limit' } });
    expect(result.error?.message).toMatch(message);
    const printed = await file('stdout.1.log');
    const deltas = events.filter(
      ({ protocol, event }) => protocol === 'fcmp' && event.type === 'assistant.message.delta',
    );
    expect(deltas.length).toBe(printed.split('\n').length - 1);
  });

  it('on bytes is exact', async () => {
    const site = await makeSite([{ flood: 1e8 }]);
    const { file } = await runToEnd(makeSpec(site, { output_bytes: 12_345 }), site);
    expect(Buffer.byteLength(await file('stdout.1.log'))).toBe(12_345);
  });

  const usage = (input: number) =>
    `${JSON.stringify({ type: 'turn.completed', usage: { input_tokens: input, output_tokens: 1 } })}\n`;

  it('on tokens ends a run that uses more', async () => {
    const site = await makeSite([{ print: usage(50) }, { sleep: 50 }, { print: usage(500) }, HANG]);
    const spec: RunSpec = { engine: 'codex', prompt: 'x', workdir: site.workdir, limits: { tokens: 100 } };
    const { result } = await runToEnd(spec, { ...site, programs: { codex: site.agent } });
    expect(result).toMatchObject({
      status: 'failed',
      error: {
        code: 'RUN_LIMIT_EXCEEDED',
        message: 'The run used more than limits.tokens (100). Raise the limit, or give the agent a smaller task.',
      },
      usage: { input_tokens: 500 },
    });
  });

  it('on cost ends a run that costs more', async () => {
    const record = { type: 'result', subtype: 'success', is_error: false, result: 'ok', session_id: 's' };
    const print = `${JSON.stringify({ ...record, total_cost_usd: 2.5, usage: { input_tokens: 1, output_tokens: 1 } })}\n`;
    const site = await makeSite([{ print }, HANG]);
    const spec: RunSpec = { engine: 'claude', prompt: 'x', workdir: site.workdir, limits: { cost: 1 } };
    const { result } = await runToEnd(spec, { ...site, programs: { claude: site.agent } });
    expect(result).toMatchObject({
      error: { code: 'RUN_LIMIT_EXCEEDED', message: expect.stringContaining('limits.cost (1 dollars)') as string },
    });
  });
});

describe('a process that has exited', () => {
  it('does not make the run wait for other processes that have its output open', async () => {
    const site = await makeSite([{ child: true }, { print: 'done\n' }, { exit: 0 }]);
    const { result } = await runToEnd(makeSpec(site), site);
    expect(result.status).toBe('success');
  });
});

describe('a process that left the group', () => {
  it.runIf(process.platform === 'linux')('is terminated with the run', async () => {
    const site = await makeSite([{ child: true, detached: true }, { print: 'done\n' }]);
    const { dir, result } = await runToEnd(makeSpec(site), site);
    expect(result.status).toBe('success');
    expect(findMarkedProcesses(new Set([dir]))).toEqual([]);
  });
});

describe('a working folder', () => {
  it('is used by one run at a time', async () => {
    const site = await makeSite([{ print: 'begin\n' }, { sleep: 200 }, { print: 'end\n' }]);
    const runs = await Promise.all([1, 2, 3].map(async () => runToEnd(makeSpec(site), site)));
    const spans = runs
      .map(({ events }) => [events[0]?.event.ts ?? '', events.at(-1)?.event.ts ?? ''] as const)
      .toSorted(([one], [other]) => (one < other ? -1 : 1));
    for (const [index, [start]] of spans.entries()) expect(start >= (spans[index - 1]?.[1] ?? '')).toBe(true);
  });

  it('that is in use is no longer awaited after a cancellation', async () => {
    const site = await makeSite([{ print: 'begin\n' }, HANG]);
    const first = startRun(makeSpec(site), site);
    await first.events[Symbol.asyncIterator]().next();
    const second = startRun(makeSpec(site), site);
    await sleep(100);
    await second.cancel();
    expect(await second.result).toMatchObject({ status: 'canceled' });
    await first.cancel();
    expect(await site.calls()).toHaveLength(1);
  });
});
