import { copyFile, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { isSluiceError } from '../../base/sluice-error.js';
import { sampleMessage, sampleSettlement, sampleSubmission } from '../contract/fixtures/order-samples.js';
import { sampleFcmp } from '../contract/fixtures/run-samples.js';
import { openStore } from '../open-store.js';
import type { Store } from '../store.js';

// Every commit waits for the disk, which other tests use too.
vi.setConfig({ testTimeout: 600_000 });

/** A database with a row for every list. */
async function fill(file: string): Promise<void> {
  const store = await openStore(`sqlite:${file}`);
  for (let number = 1; number <= 20; number += 1) {
    const { record } = await store.submitOrder(sampleSubmission({ issue_ref: `local#${number}` }));
    const settlement = sampleSettlement(record, 'needs-human', { outbox: [sampleMessage(record)] });
    await store.settleOrder(settlement);
  }
  await store.append(
    'run',
    Array.from({ length: 200 }, (_, index) => sampleFcmp(index + 1)),
  );
  await store.close();
  // Data in the write-ahead log alone would not be copied.
  const database = new DatabaseSync(file);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
}

const COMMANDS: readonly ((store: Store) => Promise<unknown>)[] = [
  (store) => store.listIssues({}),
  (store) => store.listOrders({}),
  (store) => store.listOrders({ open: true }),
  (store) => store.listInbox({ open: true }),
  (store) => store.listExecutions({ since: '2000' }),
  (store) => store.listOutbox({}),
  (store) => store.listRuns({}),
  (store) => store.countOpenWork(),
  (store) => store.read({ runId: 'run', protocol: 'fcmp', limit: 1000 }),
  (store) => store.submitOrder(sampleSubmission({ issue_ref: 'local#new' })),
  (store) => store.append('run', [sampleFcmp(1000)]),
];

it('a damaged database is used, or rejected with a store error code', async () => {
  const folder = await makeFolder({});
  const intactFile = join(folder, 'sound.db');
  await fill(intactFile);
  const { size } = await stat(intactFile);
  const corruption = fc.record({
    at: fc.nat({ max: size - 1 }),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 4096 }),
  });
  const codes = new Set<string>();
  let count = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(corruption, { minLength: 1, maxLength: 8 }), async (corruptions) => {
      const file = join(folder, `damaged-${(count += 1)}.db`);
      await copyFile(intactFile, file);
      const handle = await open(file, 'r+');
      for (const { at, bytes } of corruptions) await handle.write(bytes, 0, Math.min(bytes.length, size - at), at);
      await handle.close();
      for (const error of await collectErrors(file)) {
        if (!isSluiceError(error)) throw error;
        codes.add(error.code);
      }
    }),
    { numRuns: Number(process.env['MODEL_RUNS'] ?? 40) },
  );
  expect([...codes]).toContain('STORE_DAMAGED');
});

/** Executes every command and returns the errors. */
async function collectErrors(file: string): Promise<readonly unknown[]> {
  const errors: unknown[] = [];
  const note = (error: unknown): void => void errors.push(error);
  const store = await openStore(`sqlite:${file}`).catch(note);
  if (store === undefined) return errors;
  for (const execute of COMMANDS) await execute(store).catch(note);
  await store.close();
  return errors;
}
