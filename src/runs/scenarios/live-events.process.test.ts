import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Emitted } from '../../events/index.js';
import { createMemoryEventLog } from '../ports/run-ports.js';
import type { RunSpec } from '../../store/records/run-spec.js';
import { openRun, readRunEvents } from '../run-folder/index.js';
import { startRun } from '../start-run.js';
import { makeSite } from './fixtures/make-site.js';
import type { Site } from './fixtures/make-site.js';
import { runToEnd } from './run.contract.js';

function makeSpec(site: Site, more: Partial<RunSpec> = {}): RunSpec {
  return { engine: 'command', command: site.agent, workdir: site.workdir, ...more };
}

async function collect(events: AsyncIterable<Emitted>): Promise<Emitted[]> {
  const read: Emitted[] = [];
  for await (const emitted of events) read.push(emitted);
  return read;
}

describe('run events', () => {
  it('are published while it runs', async () => {
    const site = await makeSite([{ print: 'first\n' }, { sleep: 60_000 }]);
    const run = startRun(makeSpec(site), site);
    for await (const { protocol, event } of run.events) {
      if (protocol === 'fcmp' && event.type === 'assistant.message.delta') break;
    }
    await run.cancel();
    expect(await run.result).toMatchObject({ status: 'canceled' });
  });

  it('are the same for every reader, early, slow or late', async () => {
    const site = await makeSite([{ flood: 400_000 }, { sleep: 100 }, { flood: 100_000 }]);
    const run = startRun(makeSpec(site), site);
    const earlyReader = collect(run.events);
    const slowReader = (async () => {
      const read: Emitted[] = [];
      for await (const emitted of run.events) {
        read.push(emitted);
        if (read.length % 500 === 0) await turn();
      }
      return read;
    })();
    await run.result;
    const [first, second, third] = await Promise.all([earlyReader, slowReader, collect(run.events)]);
    expect(first.length).toBeGreaterThan(10_000);
    expect(second).toEqual(first);
    expect(third).toEqual(first);
  });

  it('are in the configured log, and in the folder', async () => {
    const site = await makeSite([{ print: 'one\ntwo\n' }]);
    const eventLog = createMemoryEventLog();
    const { run, events } = await runToEnd(makeSpec(site), { ...site, eventLog });
    const folder = await openRun(site.data, run.id);
    for (const protocol of ['rasp', 'fcmp'] as const) {
      const published = events.filter((emitted) => emitted.protocol === protocol);
      expect(await eventLog.read({ runId: run.id, protocol, limit: 1000 })).toEqual(published);
      expect(await collect(readRunEvents(folder, protocol))).toEqual(JSON.parse(JSON.stringify(published)));
    }
  });

  it('are published only after they are written', async () => {
    const site = await makeSite([{ print: 'one\n' }]);
    const loggedEvents = new Set<string>();
    const inner = createMemoryEventLog();
    const eventLog = {
      ...inner,
      async append(runId: string, events: readonly Emitted[]): Promise<void> {
        await turn();
        await inner.append(runId, events);
        for (const emitted of events) loggedEvents.add(JSON.stringify(emitted));
      },
    };
    const run = startRun(makeSpec(site), { ...site, eventLog });
    for await (const emitted of run.events) expect(loggedEvents).toContain(JSON.stringify(emitted));
    expect(loggedEvents.size).toBeGreaterThan(3);
  });

  it('from very many short lines are stored in steps, so other work is not blocked', async () => {
    const site = await makeSite([{ print: 'x\n'.repeat(10_000) }]);
    const inner = createMemoryEventLog();
    const lengths: number[] = [];
    const eventLog = {
      ...inner,
      async append(runId: string, events: readonly Emitted[]): Promise<void> {
        lengths.push(events.length);
        await inner.append(runId, events);
      },
    };
    const { events } = await runToEnd(makeSpec(site), { ...site, eventLog });
    expect(events.length).toBeGreaterThan(10_000);
    expect(Math.max(...lengths)).toBeLessThan(12_000);
  });

  it('that cannot be stored end the run with a message that explains what to check', async () => {
    const site = await makeSite([{ print: 'one\n' }, { sleep: 60_000 }]);
    const append = async () => Promise.reject(new Error('database is gone'));
    const run = startRun(makeSpec(site), { ...site, eventLog: { ...createMemoryEventLog(), append } });
    await expect(collect(run.events)).rejects.toMatchObject({ code: 'RUN_STORAGE_FAILED' });
    expect(await run.result).toMatchObject({
      status: 'failed',
      error: {
        code: 'RUN_STORAGE_FAILED',
        message: expect.stringMatching(/database is gone\. Check .* run it again\.$/) as string,
      },
    });
  });

  it('have the times of the configured clock, which never go back', async () => {
    const site = await makeSite([{ print: 'one\n' }, { sleep: 50 }, { print: 'two\n' }]);
    let now = Date.UTC(2026, 0, 1);
    const clock = () => (now -= 1000);
    const { events } = await runToEnd(makeSpec(site), { ...site, clock });
    const times = events.map(({ event }) => event.ts);
    expect(times.toSorted()).toEqual(times);
    expect(times[0]).toMatch(/^2025-12-31T/);
  });
});
