/**
 * The closed loop: three workers beside this file are given an order each. One reports in JSON, one in text, one only
 * prints. What they did is read, decided and told to the issue; what cannot be trusted waits for a person.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runDemo } from 'sluice/dispatch';

const data = await mkdtemp(join(tmpdir(), 'sluice-workers-'));
try {
  const { orders, inbox } = await runDemo({ data });
  for (const { worker, source, action, reason, comment } of orders) {
    console.log(`${worker}: read from ${source}, ${action}`);
    console.log(`  ${reason}`);
    const shown = comment?.split('\n').filter((line) => /^(?:Action|Status|ResultCode): /.test(line)) ?? [];
    console.log(`  comment: ${shown.join(', ')}`);
  }
  console.log(`for a person to decide: ${inbox.map(({ next }) => next).join(' ')}`);
} finally {
  await rm(data, { recursive: true, force: true });
}
