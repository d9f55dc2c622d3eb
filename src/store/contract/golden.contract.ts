import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { countRun, sumCounts } from '../roll-up.js';
import type { RunCounts, RunSample } from '../roll-up.js';
import type { Store } from '../store.js';
import { readEverything } from './fixtures/golden-store.js';
import { NOW, sampleClaim, sampleHold, sampleSettlement } from './fixtures/order-samples.js';
import { createRunResult } from './fixtures/run-samples.js';

/** Lists the schema versions with a golden store in this folder, created by `scripts/golden-store.ts`. */
export function listGoldenVersions(fixtures: URL): number[] {
  return readdirSync(fixtures)
    .flatMap((name) => /^store-form-(\d+)\.json\.gz$/.exec(name)?.[1] ?? [])
    .map(Number);
}

/** Unpacks a golden store file: the store itself, or its content as it was read when the store was created. */
export async function unpackGolden(fixtures: URL, version: number, kind: 'db' | 'sql' | 'json'): Promise<Buffer> {
  return gunzipSync(await readFile(new URL(`store-form-${version}.${kind}.gz`, fixtures)));
}

/** Asserts that a migrated golden store is complete: everything can be read, and work continues. */
export async function expectGolden(store: Store, content: Buffer): Promise<void> {
  const recorded = JSON.parse(content.toString()) as Readonly<Record<string, unknown>>;
  expect(await readEverything(store)).toMatchObject({ ...recorded, figures: readFigures(recorded['figures']) });

  const [running] = (await store.listOrders({ issueRef: 'local#running' })).items;
  if (running === undefined) throw new Error('the order of local#running is missing');
  await store.settleOrder(sampleSettlement(running));
  expect(await store.findIssue('local#running')).toMatchObject({ state: 'review' });
  // A run that waited for the folder can be claimed once the run that used it has ended.
  await store.renewRun({ ...sampleHold({ run: 'run-waiting' }, 'w2'), leaseMs: 1000 });
  expect(await store.endRun({ ...sampleHold({ run: 'run-waiting' }, 'w2'), result: createRunResult() })).toBe(true);
  expect((await store.claimRun(sampleClaim('w3', { takes: ['runs'] })))?.record.id).toBe('run-requested');
  expect(await store.redeliver({ sink: 'file' }, NOW)).toBeGreaterThan(0);
}

/** Reads the recorded statistics; stores created before runs were counted in slots have statistics for each run. */
function readFigures(recorded: unknown): RunCounts {
  return Array.isArray(recorded) ? sumCounts((recorded as RunSample[]).map(countRun)) : (recorded as RunCounts);
}
