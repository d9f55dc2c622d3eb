import { expect, it } from 'vitest';
import { createDatabase } from '../../../test/postgres/fresh-database.js';
import { openSite } from '../contract/fixtures/open-site.js';
import { NOW } from '../contract/fixtures/order-samples.js';
import { createRunResult, sampleSpec } from '../contract/fixtures/run-samples.js';
import { openDatabase } from './database.js';
import { MIGRATIONS } from './migrations.js';

it('a search finds runs written by an older version', async () => {
  const url = await createDatabase();
  const database = await openDatabase(url);
  for (const step of MIGRATIONS.slice(0, 2)) await database.query(step);
  await database.query('INSERT INTO sluice.migrations (version) VALUES (1), (2)');
  const insert = `INSERT INTO sluice.runs (id, spec, engine, state, created_at, result) VALUES ($1, $2, 'command', $3, $4, $5)`;
  const result = JSON.stringify(createRunResult({ status: 'comment', comment: '\u0000\uD800' }));
  const spec = JSON.stringify(sampleSpec({ prompt: 'Mend the WHEEL \u0000' }));
  await database.query(insert, ['r1', spec, 'ended', NOW, result]);
  await database.query(insert, ['r2', JSON.stringify(sampleSpec()), 'queued', NOW, null]);
  await database.close();
  const store = await openSite(url);
  expect((await store.listRuns({ search: 'wheel', outcome: 'comment', repairLevel: 'none' })).items).toMatchObject([
    { id: 'r1' },
  ]);
  expect((await store.listRuns({ search: 'node' })).items).toHaveLength(2);
});
