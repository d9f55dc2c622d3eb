import { describe, expect, it } from 'vitest';
import { makeSite } from '../../../test/postgres/fresh-database.js';
import { openSite } from '../contract/fixtures/open-site.js';
import { sampleClaim, sampleHold, sampleSettlement, sampleSubmission } from '../contract/fixtures/order-samples.js';

describe('settling an order', () => {
  it('is atomic under concurrent changes of the same rows', async () => {
    const store = await openSite(await makeSite());
    for (let number = 0; number < 60; number++) {
      const change = { issue_ref: `local#${number}`, repo_dir: `/repo/${number}` };
      const { record } = await store.submitOrder(sampleSubmission(change));
      await store.claimRun(sampleClaim());
      const hold = { ...sampleHold(record), leaseMs: 1000 };
      const isReplaced = number % 2 === 0;
      const [{ decision }] = await Promise.all([
        store.settleOrder(sampleSettlement(record)),
        store.renewRun(hold),
        store.markStarted(hold),
        store.renewRun(hold),
        isReplaced ? store.submitOrder(sampleSubmission(change)) : undefined,
      ]);
      const order = await store.findOrder(change.issue_ref, record.order.run_id);
      const issue = await store.findIssue(change.issue_ref);
      const executions = (await store.listExecutions({ issueRef: change.issue_ref })).items;
      const messages = (await store.listOutbox({ issueRef: change.issue_ref })).items;
      const run = await store.findRun(record.run);
      expect([order?.state, order?.decision]).toEqual(['settled', decision]);
      expect([run?.state, run?.lease_until, run?.result?.status]).toEqual(['ended', null, 'success']);
      expect(issue?.state).toBe(isReplaced ? 'doing' : 'review');
      expect(executions.map((execution) => execution.decision)).toEqual([decision.action]);
      expect(messages).toHaveLength(decision.action === 'advance' ? 1 : 0);
    }
  });
});
