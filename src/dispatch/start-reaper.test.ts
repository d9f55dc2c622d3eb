import { expect, it, onTestFinished } from 'vitest';
import { openWorkshop } from './fixtures/workshop.js';
import { startReaper } from './start-reaper.js';

it('ends the runs of a worker that is gone where no other worker is left', async () => {
  const { store, lead, data } = await openWorkshop();
  const spec = { engine: 'command', command: ['true'], workdir: data } as const;
  await store.createRun({ id: 'RUN1', spec, state: 'queued', now: 0 });
  const worker = { worker_id: 'w1', host: 'another-machine', pid: 1, pid_started: 'x' };
  await store.claimRun({ worker, leaseMs: 1, now: 0 });
  await store.markStarted({ id: 'RUN1', workerId: 'w1', now: 0 });
  const reaper = startReaper({ store, lead, data, everyMs: 50 });
  onTestFinished(async () => reaper.stop());
  await expect
    .poll(async () => (await store.findRun('RUN1'))?.result)
    .toMatchObject({
      status: 'failed',
      error: { code: 'WORKER_GONE' },
    });
});
