import { execFileSync } from 'node:child_process';
import { copyFile, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { bundleProgram } from '../../../test/bundle-program.js';
import { report } from '../../../test/report.js';
import { makeFolder } from '../../../test/temporary-folder.js';
import { createLead } from '../lead/create-lead.js';
import { startForge } from '../sinks/fixtures/forge.js';
import { startProgram } from '../../store/contract/fixtures/start-program.js';
import { openStore } from '../../store/open-store.js';
import { leadOptions, workerOptions } from './fixtures/campaign-options.js';
import { startWorker } from './start-worker.js';
import { waitForOrder } from './wait-for-order.js';

/** Every call with SETTLE_STEP=1; otherwise a sample. */
const STEP = Number(process.env['SETTLE_STEP'] ?? 7);
const PROGRAM = new URL('./fixtures/killed-at-call.js', import.meta.url);
const AGENT = fileURLToPath(new URL('./fixtures/scripted-agent.sh', import.meta.url));

/** Lets a worker execute a checked order and kills it at one call; another worker takes over. */
async function killAt(number: number, when: 'before' | 'after') {
  const data = await makeFolder({ 'repository/README.md': 'x' });
  await copyFile(AGENT, join(data, 'scripted-agent.sh'));
  const git = ['-C', join(data, 'repository'), '-c', 'user.name=x', '-c', 'user.email=x@example.org'];
  for (const args of [
    ['init', '--quiet'],
    ['add', '.'],
    ['commit', '--quiet', '-m', 'Begin'],
  ]) {
    execFileSync('git', [...git, ...args]);
  }
  const forge = await startForge({ perPage: 10 });
  const url = `sqlite:${join(data, 'sluice.db')}`;
  const store = await openStore(url);
  const lead = createLead({ store, ...leadOptions(data, forge.url) });
  const request = { issue_ref: 'acme/shop#1', role: 'qa', repo_dir: join(data, 'repository'), isolation: 'worktree' };
  const { order } = await lead.submit({ ...request, worker: 'proven', instructions: '0 ok' });
  const program = await bundleProgram(PROGRAM);
  const { lines } = startProgram(program, [url, data, forge.url, String(number), when]);
  const printed = await lines;
  const isOver = printed.includes('settled');

  const worker = startWorker({ store, lead, ...workerOptions(data) });
  const name = { issueRef: order.issue_ref, runId: order.run_id };
  const record = await waitForOrder(store, name, { signal: AbortSignal.timeout(60_000) });
  const countOpen = async () => (await store.listRuns({ state: 'running' })).items.length;
  await expect.poll(countOpen, { timeout: 30_000 }).toBe(0);
  await worker.stop();
  const checked = (await readFile(join(data, 'checked'), 'utf8').catch(() => '')).split('\n').filter(Boolean);
  const runs = (await store.listRuns({})).items.filter((run) => run.order === null);
  const checkEvidence = record?.decision?.evidence?.filter(({ run }) => run !== undefined) ?? [];
  const outcome = {
    action: record?.decision?.action,
    issue: (await store.findIssue('acme/shop#1'))?.state,
    executions: (await store.listExecutions({})).items.length,
    items: (await store.listInbox({ open: true })).items.length,
    comments: (await store.listOutbox({})).items.length,
    isCheckedOnce: checked.length <= 1 && runs.length <= 1,
    areAllChecksOver: runs.every(({ state }) => state === 'ended'),
    checksCounted: checkEvidence.length,
    left: await readdir(join(data, 'checks')).catch(() => []),
  };
  await store.close();
  return { isOver, outcome };
}

const CLEAN = { executions: 1, comments: 2, isCheckedOnce: true, areAllChecksOver: true, left: [] };
/** Nothing was decided when it was killed: a human is asked, and no check counts. */
const OLD = { ...CLEAN, action: 'needs-human', issue: 'needs-human', items: 1, checksCounted: 0 };
/** Everything was decided: the check counts once. */
const NEW = { ...CLEAN, action: 'advance', issue: 'review', items: 0, checksCounted: 1 };

describe('a worker killed between the end of its agent and the settlement', { timeout: 600_000 }, () => {
  it.each(['before', 'after'] as const)('leaves the old or the new state, killed %s any store call', async (when) => {
    const actions: (string | undefined)[] = [];
    for (let number = 1; ; number += STEP) {
      const { isOver, outcome } = await killAt(number, when);
      expect([OLD, NEW], `killed ${when} call ${number}`).toContainEqual(outcome);
      actions.push(outcome.action);
      if (isOver) break;
    }
    expect(actions[0]).toBe('needs-human');
    expect(actions.at(-1)).toBe('advance');
    report(
      `killed ${when} ${actions.length - 1} calls between the end of an agent and its settlement: old or new state`,
    );
  });
});
