import { expect, test } from 'vitest';
import { describeEventLog, createTwoAttempts } from '../../store/contract/any-event-log.contract.js';
import { createMemoryEventLog } from './run-ports.js';
import { describeWatchableEventLog } from '../../store/contract/watchable-event-log.contract.js';

describeEventLog('in memory', async () => createMemoryEventLog());
describeWatchableEventLog('in memory', async () => createMemoryEventLog());

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
