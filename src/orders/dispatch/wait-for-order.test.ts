import { expect, it, onTestFinished } from 'vitest';
import type { WaitingFor } from '../../store/records/index.js';
import { NOW, sampleClaim, sampleSubmission } from '../../store/contract/fixtures/order-samples.js';
import { openStore } from '../../store/open-store.js';
import { waitForOrder } from './wait-for-order.js';

it('reports why an order does not start', async () => {
  const store = await openStore('memory:');
  onTestFinished(async () => store.close());
  const { record } = await store.submitOrder(sampleSubmission());
  await store.claimRun(sampleClaim('w1'));
  const limits = [{ scope: 'day', name: '', since: NOW, tokens: 0, cost: null } as const];
  await store.reserveBudget({ run: record.run, issueRef: null, now: NOW, limits });
  await store.releaseRun({ id: record.run, workerId: 'w1', now: NOW, retryAt: NOW + 1000 });

  const { issue_ref: issueRef, run_id: runId } = record.order;
  const ending = new AbortController();
  const reasons: WaitingFor[] = [];
  const waiting = waitForOrder(
    store,
    { issueRef, runId },
    {
      signal: ending.signal,
      onWaiting: (reason) => {
        reasons.push(reason);
        ending.abort(new Error('seen'));
      },
    },
  );
  await expect(waiting).rejects.toThrow('seen');
  expect(reasons).toMatchObject([{ reason: 'budget', budget: 'day' }]);
});
