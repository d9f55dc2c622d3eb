import { expect, it, onTestFinished } from 'vitest';
import { join } from 'node:path';
import { makeFolder } from '../../../test/temporary-folder.js';
import { openSite } from '../../store/contract/fixtures/open-site.js';
import { createRunResult, sampleSpec } from '../../store/contract/fixtures/run-samples.js';
import { startMaintenance } from './start-maintenance.js';

it('maintenance counts ended runs, and runs further jobs', async () => {
  const data = await makeFolder({});
  const store = await openSite(`sqlite:${join(data, 'sluice.db')}`);
  await store.createRun({ id: 'r1', spec: sampleSpec(), state: 'running', workerId: 'w', now: 1000 });
  await store.endRun({ id: 'r1', workerId: 'w', result: createRunResult(), now: 2000 });
  const counts: number[] = [];
  const isDone = new Promise<void>((resolve) => {
    const metered: typeof store = {
      ...store,
      async countEndedRuns(limit) {
        const counted = await store.countEndedRuns(limit);
        counts.push(counted);
        return counted;
      },
    };
    const other = { name: 'other', everyMs: 1, work: async () => counts.length > 1 && resolve() };
    const maintenance = startMaintenance({ store: metered, data, settings: {}, jobs: [other] });
    onTestFinished(async () => maintenance.stop());
  });
  await isDone;
  expect(counts.slice(0, 2)).toEqual([1, 0]);
  expect(await store.listRunSlots({ since: 0, until: 86_400_000, stepMs: 86_400_000 })).toMatchObject([
    { at: 0, engine: 'command', counts: { outcomes: { success: 1 } } },
  ]);
});

it('maintenance retries failed deliveries, in one process', async () => {
  const data = await makeFolder({});
  const store = await openSite('memory:');
  const delivered: string[] = [];
  const isDone = new Promise<void>((resolve) => {
    for (const process of ['first', 'second']) {
      const deliver = async () => {
        delivered.push(process);
        resolve();
        return { delivered: 0, postponed: 0, dead: 0, lost: 0 };
      };
      const maintenance = startMaintenance({ store, data, settings: {}, lead: { deliver } });
      onTestFinished(async () => maintenance.stop());
    }
  });
  await isDone;
  expect(delivered).toEqual(['first']);
});
