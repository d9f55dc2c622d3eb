import type { Command } from 'commander';
import type { OrderRecord } from '../../records/index.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { inHouse, withHouseOptions } from '../house.js';
import type { House, HouseFlags } from '../house.js';
import { listenForInterruption } from '../interruption.js';
import { MisuseError } from '../misuse-error.js';
import { readJsonFile } from '../read-json-file.js';
import { printJson } from '../print-json.js';
import { workerSettings } from '../worker-settings.js';

/** Adds `sluice order` to the program. */
export function addOrderCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withHouseOptions(program.command('order'))
    .description('give an order to a worker, wait, deliver the comment, print the decision')
    .argument('<file>', 'the work request as JSON, or - for standard input')
    .option('--json', 'JSON, also at a terminal')
    .addHelpText(
      'after',
      '\nExit codes: 0 the issue advances to review, 1 it does not, 2 called wrongly, 130 interrupted: a person is asked.',
    )
    .action(async (file: string, flags: HouseFlags) => {
      end(await runOrder(file, flags, io));
    });
}

async function runOrder(file: string, flags: HouseFlags, io: CommandIo): Promise<ExitCode> {
  const request = await readJsonFile(file, io);
  const interruption = listenForInterruption();
  try {
    return await inHouse(flags, async (house) => {
      const record = await carryOut(request, house, io, interruption.signal);
      await printJson(await summarize(record, house), io);
      if (interruption.signal.aborted) return EXIT.canceled;
      return record.decision?.action === 'advance' ? EXIT.success : EXIT.failed;
    });
  } finally {
    interruption.stopListening();
  }
}

/** Submits the order, and works until it is settled, here or by another worker. */
async function carryOut(request: unknown, house: House, io: CommandIo, interrupted: AbortSignal): Promise<OrderRecord> {
  const { startWorker, waitForOrder } = await import('../../dispatch/index.js');
  const { store, lead } = house;
  const { order } = await lead.submit(request);
  const name = { issueRef: order.issue_ref, runId: order.run_id };
  await io.stderr.write(`${order.issue_ref}: run ${order.run_id}, worker ${order.worker}\n`);
  const worker = startWorker({ store, lead, ...workerSettings(house), takes: ['orders'] });
  const stopAtOnce = (): void => void worker.stop({ graceMs: 0 });
  interrupted.addEventListener('abort', stopAtOnce, { once: true });
  try {
    await waitForOrder(store, name, { signal: interrupted }).catch((error: unknown) => {
      if (!interrupted.aborted) throw error;
    });
  } finally {
    await worker.stop();
    interrupted.removeEventListener('abort', stopAtOnce);
  }
  await lead.deliver();
  const record = await store.findOrder(name.issueRef, name.runId);
  if (record === undefined) {
    throw new MisuseError(`the order ${order.run_id} is gone from the database; submit it again`);
  }
  return record;
}

/** What is printed: the decision, and where its comment went. */
async function summarize({ order, state, decision, run }: OrderRecord, { store }: House): Promise<object> {
  const { issue_ref, run_id, worker } = order;
  const [execution] = (await store.listExecutions({ issueRef: issue_ref, runId: run_id, limit: 1 })).items;
  const messages = await store.listOutbox({ issueRef: issue_ref });
  const mine = messages.items.filter(({ trigger }) => trigger === `workrun:${run_id}`);
  return {
    issue_ref,
    run_id,
    worker,
    run,
    state,
    action: decision?.action ?? null,
    reason: decision?.reason ?? null,
    result_code: decision?.result_code ?? null,
    next: decision?.next ?? null,
    source: execution?.result_encoding ?? 'none',
    comments: mine.map(({ sink, state: delivery, delivered_to }) => ({ sink, state: delivery, delivered_to })),
  };
}
