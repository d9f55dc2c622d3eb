import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { describeEventLog, createTwoAttempts } from './event-log.contract.js';
import { createFileEventLog, createMemoryEventLog } from './event-logs.js';
import { describeWatchableEventLog } from './watchable-event-log.contract.js';

async function makeData(): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), 'sluice-log-'));
  onTestFinished(async () => rm(data, { recursive: true, force: true }));
  return data;
}

describeEventLog('in memory', async () => createMemoryEventLog());
describeWatchableEventLog('in memory', async () => createMemoryEventLog());
describeEventLog('in run folders', async () => createFileEventLog(await makeData()));

test('the memory log drops the oldest run first', async () => {
  const log = createMemoryEventLog({ runs: 2 });
  for (const id of ['a', 'b', 'c']) await log.append(id, createTwoAttempts(id));
  const counts = await Promise.all(
    ['a', 'b', 'c'].map(async (runId) => (await log.read({ runId, protocol: 'fcmp', limit: 1 })).length),
  );
  expect(counts).toEqual([0, 1, 1]);
});

test('the memory log wakes a run’s watchers until they stop', async () => {
  const log = createMemoryEventLog();
  let wakeUps = 0;
  const stop = log.watch('a', () => (wakeUps += 1));
  await log.append('a', []);
  await log.append('b', []);
  stop();
  await log.append('a', []);
  expect(wakeUps).toBe(1);
});

test('a run id that is a path is rejected', async () => {
  const log = createFileEventLog(await makeData());
  const read = log.read({ runId: '../x', protocol: 'fcmp', limit: 1 });
  await expect(read).rejects.toMatchObject({ code: 'INVALID_RUN_ID' });
});
