import type { Command } from 'commander';
import { describeWaitingFor } from '../../store/records/index.js';
import type { OrderRecord, WaitingFor } from '../../store/records/index.js';
import type { CommandIo } from '../command-io.js';
import { readTraceparent, loadCommandConfig } from '../command-config.js';
import { EXIT, MisuseError } from '../failure.js';
import type { ExitCode } from '../failure.js';
import { withContext, withContextOptions, readWorkerSettings } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import type { ConfigFlags } from '../../server/config/index.js';
import { withInterruption } from '../interruption.js';
import { readJsonFile } from '../read-input.js';
import { printJson, wantsJson } from '../print.js';
import { formatLine, makeVisible } from '../terminal-text.js';
import type { DemoReport } from '../../orders/dispatch/index.js';
import { prepareDataFolder } from '../../base/files/index.js';

export function addOrderCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('order'))
    .description('execute an order, deliver its comment and print the decision')
    .argument('<file>', 'work request as JSON, or - for standard input')
    .option('--json', 'accepted for consistency; the output is always JSON')
    .addHelpText(
      'after',
      '\nExit codes: 0 the issue advances to review, 1 it does not, 2 usage error, 130 interrupted (the order is moved to the inbox).',
    )
    .action(async (file: string, flags: ConfigFlags) => end(await runOrder(file, flags, io)));
}

async function runOrder(file: string, flags: ConfigFlags, io: CommandIo): Promise<ExitCode> {
  const request = await readJsonFile(file, io);
  return withInterruption(async (signal) =>
    withContext(flags, io, async (context) => {
      const { record, race } = await execute(request, context, io, signal);
      const summary = await summarize(record, context);
      await printJson(race.length === 0 ? summary : { ...summary, race: race.map(summarizeRun) }, io);
      if (signal.aborted) return EXIT.canceled;
      return record.decision?.action === 'advance' ? EXIT.success : EXIT.failed;
    }),
  );
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

interface DemoFlags extends ConfigFlags {
  readonly json?: boolean;
}

export function addDemoCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('demo'))
    .description('run four demo orders: their agents write JSON, write text, only print, or replay a recorded agent')
    .option('--json', 'print JSON, even at a terminal')
    .action(async (flags: DemoFlags) => end(await runDemoCommand(flags, io)));
}

async function runDemoCommand(flags: DemoFlags, io: CommandIo): Promise<ExitCode> {
  const { runDemo } = await import('../../orders/dispatch/index.js');
  const { data, database } = await loadCommandConfig(flags, io);
  await io.stderr.write('Running four demo orders.\n');
  await prepareDataFolder(data);
  const report = await runDemo({ data, database });
  if (wantsJson(flags, io)) await printJson(report, io);
  else await io.stdout.write(renderReport(report));
  return EXIT.success;
}

function renderReport({ orders, inbox }: DemoReport): string {
  const lines = orders.map(({ issue_ref, run_id, worker, source, action, reason, evidence, delivered_to }) =>
    [
      `${worker}: ${issue_ref}, run ${run_id}`,
      `  source     ${source}`,
      `  decision   ${action}: ${reason}`,
      ...evidence.map(({ claim, verdict, detail }) => `  ${verdict.padEnd(12)} ${claim}: ${detail}`),
      `  comment    ${delivered_to ?? 'none'}`,
    ].join('\n'),
  );
  const openItems = inbox.map(({ id, reason }) => `needs a decision: ${id}: ${reason}`);
  return makeVisible(`${[...lines, ...openItems].join('\n\n')}\n`);
}
