import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { bundleProgram } from '../../../test/bundle-program.js';
import { report } from '../../../test/report.js';
import type { Store } from '../store.js';
import { openSite, type MakeSite } from './fixtures/open-site.js';
import { sampleSettlement, sampleSubmission } from './fixtures/order-samples.js';
import { startProgram } from './fixtures/start-program.js';

/** More kills in `npm run torture`. */
const KILLS = Number(process.env['STORE_KILLS'] ?? 3);

const PROGRAM = new URL('./fixtures/write-until-killed.js', import.meta.url);

interface Acknowledged {
  readonly command: 'submitted' | 'settled' | 'appended';
  readonly issueRef: string;
  readonly runId: string;
}

/** The contract of persistent stores: a writer is killed at random times. */
export function describeKill(makeSite: MakeSite): void {
  describe('a writer that is killed', () => {
    it(
      'loses nothing that was acknowledged, and blocks no other process',
      { timeout: 30_000 + KILLS * 10_000 },
      async () => {
        const url = await makeSite();
        const store = await openSite(url);
        const program = await bundleProgram(PROGRAM);
        let count = 0;
        for (let round = 1; round <= KILLS; round++) {
          const { child, lines, started } = startProgram(program, [url, String(round)]);
          await started;
          await sleep(Math.random() * 300);
          child.kill('SIGKILL');
          const acknowledged = (await lines).map((line) => JSON.parse(line) as Acknowledged);
          expect(acknowledged.length).toBeGreaterThan(0);
          count += acknowledged.length;
          for (const each of acknowledged) expect(await isStored(store, each)).toBe(true);

          const issueRef = `local#after-${round}`;
          const { record } = await store.submitOrder(
            sampleSubmission({ issue_ref: issueRef, repo_dir: `/after/${round}` }),
          );
          await store.settleOrder(sampleSettlement(record));
          expect(await store.findIssue(issueRef)).toMatchObject({ state: 'review' });
        }
        // At most one order per round was submitted but not settled.
        expect((await store.listOrders({ open: true })).items.length).toBeLessThanOrEqual(KILLS);
        report(`${KILLS} writers killed: ${count} commands acknowledged, none lost`);
      },
    );
  });
}

async function isStored(store: Store, { command, issueRef, runId }: Acknowledged): Promise<boolean> {
  const issue = await store.findIssue(issueRef);
  const order = await store.findOrder(issueRef, runId);
  const isSubmitted = issue?.last_run_number === 1 && order?.order.run_id === runId;
  switch (command) {
    case 'submitted':
      return isSubmitted;
    case 'settled': {
      const executions = await store.listExecutions({ issueRef });
      const messages = await store.listOutbox({ issueRef });
      return isSubmitted && issue.state === 'review' && executions.items.length === 1 && messages.items.length === 1;
    }
    case 'appended':
      return (await store.read({ runId: issueRef, protocol: 'fcmp', limit: 10 })).length === 2;
  }
}
