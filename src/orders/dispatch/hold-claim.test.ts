import { expect, it, onTestFinished, vi } from 'vitest';
import { silentLogger } from '../../base/index.js';
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
