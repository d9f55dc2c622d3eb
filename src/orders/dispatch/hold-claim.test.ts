import { expect, it, onTestFinished, vi } from 'vitest';
import { silentLogger } from '../../base/index.js';
import { createFailedResult } from '../../runs/index.js';
import { openSite } from '../../store/contract/fixtures/open-site.js';
import { NOW } from '../../store/contract/fixtures/order-samples.js';
import { sampleSpec } from '../../store/contract/fixtures/run-samples.js';
import { holdClaim } from './hold-claim.js';

it('a reply that arrives before the run can receive it is delivered later, once', async () => {
  const store = await openSite('memory:');
  const hold = { id: 'r1', workerId: 'w1' };
  const clock = () => NOW;
  await store.createRun({ ...hold, spec: sampleSpec(), state: 'running', leaseMs: 60_000, now: NOW });
  await store.markStarted({ ...hold, now: NOW });
  await store.setWaiting({ ...hold, now: NOW });
  const { signal } = new AbortController();
  const claim = holdClaim({ store, clock, logger: silentLogger, leaseMs: 60_000, signal }, hold);
  onTestFinished(async () => claim.end());
  expect(await store.postReply('r1', 'The first.')).toBe('posted');
  await vi.waitFor(async () => expect(await store.findRun('r1')).toMatchObject({ state: 'running' }));

  const received: string[] = [];
  claim.onReply(async (text) => void received.push(text));
  await claim.end();
  expect(received).toEqual(['The first.']);
});

it('is confirmed without a request while it is young, and not once it is older', async () => {
  const store = await openSite('memory:');
  const hold = { id: 'r1', workerId: 'w1' };
  await store.createRun({ ...hold, spec: sampleSpec(), state: 'running', leaseMs: 60_000, now: NOW });
  const renewals = vi.spyOn(store, 'renewRun');
  const { signal } = new AbortController();
  const claim = holdClaim({ store, clock: () => NOW, logger: silentLogger, leaseMs: 60_000, signal }, hold);
  onTestFinished(async () => claim.end());
  expect(await claim.confirm(30_000)).toBe(true);
  expect(renewals).not.toHaveBeenCalled();
  expect(await claim.confirm()).toBe(true);
  await store.endRun({ ...hold, result: createFailedResult('X', 'Ended.'), now: NOW });
  const paused = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 30_000);
  onTestFinished(() => paused.mockRestore());
  expect(await claim.confirm(30_000)).toBe(false);
  expect(renewals).toHaveBeenCalledTimes(2);
});
