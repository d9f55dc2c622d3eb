import { describe, expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../../../../test/temporary-folder.js';
import { createLead } from '../../lead/create-lead.js';
import { openSite } from '../../../store/contract/fixtures/open-site.js';
import { startWorker } from '../start-worker.js';
import { createDemoWrappers, showDemo } from './run-demo.js';

async function setUpDemo() {
  const data = await makeFolder({});
  const store = await openSite('memory:');
  const lead = createLead({ store, data, wrappers: createDemoWrappers() });
  const worker = startWorker({ store, lead, runs: { data }, kinds: ['orders'], pollMs: 50 });
  onTestFinished(async () => {
    await worker.stop({ graceMs: 0 });
    await lead.close();
  });
  return { data, store, lead };
}

describe('the demo of an empty store', { timeout: 90_000 }, () => {
  it('replays recorded agents through the real pipeline and leaves one item in the inbox', async () => {
    const { data, store, lead } = await setUpDemo();
    const demo = await showDemo({ store, lead, data });
    // It does not wait for them. The worker may have started orders too.
    const running = (await store.listRuns({ state: 'running' })).items.filter(({ order }) => order === null);
    expect(running.length).toBeLessThanOrEqual(3);
    await demo?.played;
    const { items } = await store.listRuns({});
    const agents = items.filter(({ order }) => order === null);
    expect(agents.map(({ spec, result }) => `${spec.engine} ${result?.status}`).toSorted()).toEqual([
      'claude success',
      'codex success',
      'gemini success',
    ]);
    for (const { id, result } of agents) {
      expect(result?.process?.version).toMatch(/^\d+\.\d+\.\d+$/);
      const events = await store.read({ runId: id, protocol: 'fcmp', limit: 1000 });
      expect(events.at(-1)?.event).toMatchObject({ type: 'conversation.completed' });
    }
    await expect.poll(async () => (await store.listOrders({ open: true })).items.length, { timeout: 30_000 }).toBe(0);
    const decided = (await store.listOrders({})).items.map(
      ({ order, decision }) => `${order.worker} ${decision?.action}`,
    );
    expect(decided.toSorted()).toEqual(['json-agent advance', 'print-only-agent needs-human', 'text-agent advance']);
    expect((await store.listInbox({ open: true })).items).toMatchObject([{ issue_ref: 'local#demo-print-only-agent' }]);
    expect(await showDemo({ store, lead, data })).toBeUndefined();
  });

  it('creates one set of orders when two servers start concurrently, each with its own folder', async () => {
    // Created first, so it is removed last: the worker uses it.
    const otherFolder = await makeFolder({});
    const { data, store, lead } = await setUpDemo();
    const demos = await Promise.all([data, otherFolder].map(async (folder) => showDemo({ store, lead, data: folder })));
    for (const demo of demos) await demo?.stop();
    expect(demos).not.toContain(undefined);
    expect((await store.listOrders({})).items).toHaveLength(3);
  });

  it('stops the replayed agents when it is stopped', async () => {
    const { data, store, lead } = await setUpDemo();
    const demo = await showDemo({ store, lead, data });
    await demo?.stop();
    expect((await store.listRuns({ state: 'running' })).items.filter(({ order }) => order === null)).toEqual([]);
  });
});
