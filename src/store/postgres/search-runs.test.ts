import { expect, it, onTestFinished } from 'vitest';
import { createDatabase } from '../../../test/postgres/fresh-database.js';
import { openSite } from '../contract/fixtures/open-site.js';
import { NOW } from '../contract/fixtures/order-samples.js';
import { runResultOf, specOf } from '../contract/fixtures/run-samples.js';
import { openStore } from '../open-store.js';
import { openDatabase } from './database.js';

it('a search finds what an older Sluice has written', async () => {
  const url = await createDatabase();
  const store = await openStore(url);
  const spec = specOf({ prompt: 'Mend the WHEEL \u0000' });
  await store.createRun({ id: 'r1', spec, state: 'running', workerId: 'w1', now: NOW });
  await store.createRun({ id: 'r2', spec: specOf(), state: 'queued', now: NOW });
  const result = runResultOf({ status: 'comment', comment: '\u0000\uD800' });
  await store.endRun({ id: 'r1', workerId: 'w1', result, now: NOW });
  await store.close();
  const database = await openDatabase(url);
  onTestFinished(async () => database.close());
  await database.query('DROP TABLE sluice.run_digests; DELETE FROM sluice.migrations WHERE version > 2');
  const again = await openSite(url);
  expect((await again.listRuns({ search: 'wheel', outcome: 'comment', repairLevel: 'none' })).items).toMatchObject([
    { id: 'r1' },
  ]);
  expect((await again.listRuns({ search: 'node' })).items).toHaveLength(2);
});
