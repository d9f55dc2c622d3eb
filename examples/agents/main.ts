/**
 * Submits an order to each of the three agents in this folder: one reports in JSON, one in text, one only prints. Their
 * results are read and decided, and comments are delivered; a result that cannot be trusted waits for a human decision.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startWorker, waitForOrder } from 'sluice/dispatch';
import { createLead } from 'sluice/orders';
import { openStore } from 'sluice/store';

const start = (name: string) => [process.execPath, fileURLToPath(new URL(`${name}.mjs`, import.meta.url))];
const wrappers = {
  'json-agent': { type: 'script', command: [...start('json-agent'), '{work_order}'], inject: 'args' },
  'text-agent': { type: 'script', command: start('text-agent'), inject: 'env' },
  'print-only-agent': { type: 'script', command: start('print-only-agent'), inject: 'env' },
} as const;

const data = await mkdtemp(join(tmpdir(), 'sluice-agents-'));
const repo_dir = join(data, 'repository');
await mkdir(repo_dir);
const store = await openStore('memory:');
const lead = createLead({ store, wrappers, data });
const worker = startWorker({ store, lead, runs: { data } });
try {
  for (const name of Object.keys(wrappers)) {
    const request = {
      issue_ref: `local#${name}`,
      role: 'demo',
      repo_dir,
      worker: name,
      instructions: 'Greet the reader.',
    };
    const { order } = await lead.submit(request);
    const record = await waitForOrder(store, { issueRef: order.issue_ref, runId: order.run_id });
    const [execution] = (await store.listExecutions({ issueRef: order.issue_ref })).items;
    console.log(`${name}: read from ${execution?.result_encoding}, ${record?.decision?.action}`);
    console.log(`  ${record?.decision?.reason}`);
  }
  await worker.stop();
  for (const { body } of (await store.listOutbox({ state: 'delivered' })).items.toReversed()) {
    const summary = body.split('\n').filter((line) => /^(?:Action|Status|ResultCode): /.test(line));
    console.log(`comment: ${summary.join(', ')}`);
  }
  const { items } = await store.listInbox({ open: true });
  console.log(`needs a human decision: ${items.map(({ next }) => next).join(' ')}`);
} finally {
  await worker.stop({ graceMs: 0 });
  await store.close();
  await rm(data, { recursive: true, force: true });
}
