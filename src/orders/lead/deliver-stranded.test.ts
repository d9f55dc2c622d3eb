import { describe, expect, it } from 'vitest';
import { createJsonLogger } from '../../base/logger.js';
import { openStore } from '../../store/open-store.js';
import { createLead } from './create-lead.js';
import { queueMessage } from './fixtures/queue-message.js';

async function setUp() {
  const store = await openStore('memory:');
  let now = 1_000_000;
  const lines: string[] = [];
  const lead = createLead({
    store,
    sinks: [{ name: 'mine', timeoutMs: 10, accepts: () => true, send: async () => ({ deliveredTo: 'there' }) }],
    clock: () => now,
    logger: createJsonLogger((line) => lines.push(line)),
  });
  return {
    store,
    lead,
    logged: () => lines.map((line): unknown => JSON.parse(line)),
    queue: async (id: string, sink: string) => queueMessage(store, { id, issueRef: `local#${id}`, sinks: [sink], now }),
    pass: (ms: number) => (now += ms),
  };
}

describe('a comment for a sink that is not configured', () => {
  it('is logged once, and the outbox shows why it waits', async () => {
    const { store, lead, logged, queue, pass } = await setUp();
    await queue('a', 'renamed');
    await queue('b', 'renamed');
    await lead.deliver();
    expect(logged()).toEqual([]);
    pass(61_000);
    await lead.deliver();
    await queue('c', 'renamed');
    pass(61_000);
    await lead.deliver();
    expect(logged()).toMatchObject([{ level: 'warn', sink: 'renamed' }]);
    const { items } = await store.listOutbox({ state: 'waiting' });
    expect(items).toHaveLength(3);
    for (const { last_error } of items) expect(last_error).toContain('no running worker has a sink with this name');
  });

  it('is looked up periodically, not with every delivery', async () => {
    const { store, lead, queue, pass } = await setUp();
    await lead.deliver();
    await queue('a', 'renamed');
    pass(60_000);
    let lookups = 0;
    const countingLead = createLead({
      store: {
        ...store,
        recordStranded: async (query) => {
          lookups += 1;
          return store.recordStranded(query);
        },
      },
      clock: () => pass(1000),
    });
    for (let round = 0; round < 60; round += 1) await countingLead.deliver();
    expect(lookups).toBeGreaterThan(1);
    expect(lookups).toBeLessThan(20);
  });

  it('does not delay messages to other sinks', async () => {
    const { store, lead, logged, queue, pass } = await setUp();
    await queue('a', 'renamed');
    await queue('b', 'mine');
    pass(61_000);
    expect(await lead.deliver()).toMatchObject({ delivered: 1 });
    expect((await store.listOutbox({ state: 'delivered' })).items).toMatchObject([{ sink: 'mine', last_error: null }]);
    expect(logged()).toHaveLength(1);
  });
});
