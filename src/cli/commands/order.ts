import type { Command } from 'commander';
import { describeWaitingFor } from '../../store/records/index.js';
import type { OrderRecord, WaitingFor } from '../../store/records/index.js';
import type { CommandIo } from '../command-io.js';
import { readTraceparent } from '../command-tracing.js';
import { EXIT, type ExitCode, MisuseError } from '../failure.js';
import { withContext, withContextOptions, readWorkerSettings } from '../command-context.js';
import type { CommandContext, ContextFlags } from '../command-context.js';
import { listenForInterruption } from '../interruption.js';
import { readJsonFile } from '../read-input.js';
import { printJson } from '../print.js';
import { formatLine } from '../terminal-text.js';

export function addOrderCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('order'))
    .description('execute an order, deliver its comment and print the decision')
    .argument('<file>', 'work request as JSON, or - for standard input')
    .option('--json', 'accepted for consistency; the output is always JSON')
    .addHelpText(
      'after',
      '\nExit codes: 0 the issue advances to review, 1 it does not, 2 usage error, 130 interrupted (the order is moved to the inbox).',
    )
    .action(async (file: string, flags: ContextFlags) => {
      end(await runOrder(file, flags, io));
    });
}

async function runOrder(file: string, flags: ContextFlags, io: CommandIo): Promise<ExitCode> {
  const request = await readJsonFile(file, io);
  const interruption = listenForInterruption();
  try {
    return await withContext(flags, io, async (context) => {
      const { record, race } = await execute(request, context, io, interruption.signal);
      const summary = await summarize(record, context);
      await printJson(race.length === 0 ? summary : { ...summary, race: race.map(summarizeRun) }, io);
      if (interruption.signal.aborted) return EXIT.canceled;
      return record.decision?.action === 'advance' ? EXIT.success : EXIT.failed;
    });
  } finally {
    interruption.stopListening();
  }
}

/** Submits the order and runs a worker until the order is settled, by this worker or another. */
async function execute(
  request: unknown,
  context: CommandContext,
  io: CommandIo,
  interruption: AbortSignal,
): Promise<{ readonly record: OrderRecord; readonly race: readonly OrderRecord[] }> {
  const { startWorker, waitForOrder } = await import('../../orders/dispatch/index.js');
  const { store, lead } = context;
  const { order, rivals } = await lead.submit(request, { traceparent: readTraceparent() });
  const name = { issueRef: order.issue_ref, runId: order.run_id };
  for (const { run_id, worker } of [order, ...rivals.map((rival) => rival.order)]) {
    await io.stderr.write(formatLine(`${order.issue_ref}: run ${run_id}, wrapper ${worker}`));
  }
  const worker = startWorker({ store, lead, ...readWorkerSettings(context), kinds: ['orders'] });
  const stopImmediately = (): void => void worker.stop({ graceMs: 0 });
  interruption.addEventListener('abort', stopImmediately, { once: true });
  try {
    const onWaiting = (waiting: WaitingFor): void =>
      void io.stderr.write(formatLine(`${order.issue_ref}: waiting for ${describeWaitingFor(waiting)}`));
    await waitForOrder(store, name, { signal: interruption, onWaiting }).catch((error: unknown) => {
      if (!interruption.aborted) throw error;
    });
  } finally {
    await worker.stop();
    interruption.removeEventListener('abort', stopImmediately);
  }
  await lead.deliver();
  const runIds = [order.run_id, ...rivals.map((rival) => rival.order.run_id)];
  const foundOrders = await Promise.all(runIds.map(async (runId) => store.findOrder(name.issueRef, runId)));
  const records = foundOrders.flatMap((record) => record ?? []);
  const record = records.find(({ decision }) => decision?.action === 'advance') ?? records[0];
  if (record === undefined) {
    throw new MisuseError(`The order "${order.run_id}" is no longer in the database. Submit it again.`);
  }
  return { record, race: rivals.length === 0 ? [] : records };
}

/** Summarizes one run of a race for the output. */
function summarizeRun({ order, state, decision, run }: OrderRecord): object {
  const { run_id, worker } = order;
  const { action = null, result_code = null, reason = null } = decision ?? {};
  return { run_id, worker, run, state, action, result_code, reason };
}

/** Summarizes the decision and the delivery of its comment for the output. */
async function summarize({ order, state, decision, run }: OrderRecord, { store }: CommandContext): Promise<object> {
  const { issue_ref, run_id, worker } = order;
  const [execution] = (await store.listExecutions({ issueRef: issue_ref, runId: run_id, limit: 1 })).items;
  const messages = await store.listOutbox({ issueRef: issue_ref });
  const comments = messages.items.filter(({ trigger }) => trigger === `workrun:${run_id}`);
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
    evidence: decision?.evidence ?? [],
    source: execution?.result_encoding ?? 'none',
    comments: comments.map(({ sink, state: delivery, delivered_to }) => ({ sink, state: delivery, delivered_to })),
  };
}
