import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { openStore } from '../../store/open-store.js';
import { cleanEnd, goodResult, makeRequest, startLead } from './fixtures/start-lead.js';

/** Two leads over one SQLite file, each with its own connection. */
async function startTwoLeads() {
  const data = await makeFolder({});
  const open = async () => openStore(`sqlite:${join(data, 'sluice.db')}`);
  const [left, right] = [
    await startLead({ data, store: await open() }),
    await startLead({ data, store: await open() }),
  ];
  const close = async () => {
    await left.store.close();
    await right.store.close();
  };
  return { left, right, close };
}

describe('two concurrent leads', () => {
  it('one settles while the other replaces the run: a late result changes nothing, an early result stays', async () => {
    const { left, right, close } = await startTwoLeads();
    const seen = new Set<string>();
    for (let round = 0; round < 20; round++) {
      const issueRef = `acme/shop#${round + 1}`;
      const oldOrder = await left.lead.submit(makeRequest({ issue_ref: issueRef }));
      await left.report(oldOrder, 'work_result.json', goodResult(oldOrder));
      const replaceRun = async () => {
        for (let turns = 0; turns < round * 3; turns++) await turn();
        return right.lead.submit(makeRequest({ issue_ref: issueRef }));
      };
      const [{ decision }, current] = await Promise.all([left.lead.settle(cleanEnd(oldOrder)), replaceRun()]);
      seen.add(decision.action);
      expect(['advance', 'archive']).toContain(decision.action);
      expect(await left.store.findIssue(issueRef)).toMatchObject({
        state: 'doing',
        active_run_id: current.order.run_id,
      });
      const comments = (await left.store.listOutbox({ issueRef })).items;
      expect(comments).toHaveLength(decision.action === 'advance' ? 1 : 0);
    }
    expect(seen.size).toBeGreaterThan(0);
    await close();
  });

  it('both settle, then both resolve: each is recorded once', async () => {
    const { left, right, close } = await startTwoLeads();
    for (let round = 0; round < 5; round++) {
      const issueRef = `acme/shop#${round + 1}`;
      const order = await left.lead.submit(makeRequest({ issue_ref: issueRef }));
      await left.report(order, 'work_result.json', goodResult(order, { Tests: undefined }));
      const settled = await Promise.all([left.lead.settle(cleanEnd(order)), right.lead.settle(cleanEnd(order))]);
      expect(settled.filter(({ repeated }) => repeated)).toHaveLength(1);
      const [item, ...otherItems] = (await left.store.listInbox({ open: true, issueRef })).items;
      expect(otherItems).toEqual([]);
      const id = item?.id ?? '';
      const resolved = await Promise.allSettled([
        left.lead.resolve({ id, action: 'accept', who: 'Ada', why: 'fine' }),
        right.lead.resolve({ id, action: 'retry', who: 'Bob', why: 'again' }),
      ]);
      expect(resolved.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      const resolution = (await left.store.findItem(id))?.resolution;
      const issue = await left.store.findIssue(issueRef);
      expect(issue?.state).toBe(resolution?.action === 'retry' ? 'doing' : 'review');
      expect(issue?.active_run_id).toBe(resolution?.new_run_id ?? order.order.run_id);
    }
    await close();
  });

  it('both deliver: every comment is sent once', async () => {
    const { left, right, close } = await startTwoLeads();
    for (let round = 0; round < 10; round++) {
      const order = await left.lead.submit(makeRequest({ issue_ref: `acme/shop#${round + 1}` }));
      await left.report(order, 'work_result.json', goodResult(order));
      await left.lead.settle(cleanEnd(order));
    }
    const reports = await Promise.all([left.lead.deliver(), right.lead.deliver(), left.lead.deliver()]);
    expect(reports.reduce((sum, { delivered }) => sum + delivered, 0)).toBe(10);
    for (let round = 0; round < 10; round++) {
      expect((await left.comments(`acme/shop#${round + 1}`)).match(/^Role: /gm)).toHaveLength(1);
    }
    await close();
  });
});
