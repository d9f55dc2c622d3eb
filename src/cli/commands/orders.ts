import { userInfo } from 'node:os';
import type { CommandIo } from '../command-io.js';
import { defineCommand } from '../command.js';
import { EXIT, MisuseError } from '../failure.js';
import {
  CONTEXT_OPTIONS,
  readRecords,
  withContext,
  readWorkerSettings,
  type CommandContext,
} from '../command-context.js';
import { readJsonFile } from '../read-input.js';
import { printJson, wantsJson } from '../print.js';
import {
  markUnverified,
  type LineComment,
  type Change,
  type ChangedFile,
  type Race,
  describeWaitingFor,
  type OrderRecord,
  type WaitingFor,
} from '../../store/records/index.js';
import type { FcmpData, FcmpEvent } from '../../events/index.js';
import { omitUndefined, SluiceError } from '../../base/index.js';
import type { Store } from '../../store/index.js';
import { readEventLog } from '../../store/ports/index.js';
import { colorPatch, makeVisible, formatLine } from '../terminal-text.js';
import { readTraceparent, loadCommandConfig } from '../command-config.js';
import { withInterruption } from '../interruption.js';
import type { DemoReport } from '../../orders/dispatch/index.js';
import { prepareDataFolder } from '../../base/files/index.js';

const WHO_OPTION = { '--who <name>': 'who decides (default: your login name); recorded as unverified' } as const;
const JSON_OPTION = { '--json': 'print JSON, even at a terminal' } as const;
/** For commands whose output is always JSON. */
const NEEDLESS_JSON_OPTION = { '--json': 'accepted for consistency; the output is always JSON' } as const;

export const addResolveCommand = defineCommand('resolve', {
  summary: 'resolve an inbox item',
  args: { '<id>': 'id of the item, from sluice inbox' },
  options: {
    ...CONTEXT_OPTIONS,
    '--action <what>': [
      'what to do; retry starts a new run, edit accepts a corrected result',
      { choices: ['accept', 'reject', 'retry', 'edit'], required: true },
    ],
    '--why <text>': ['reason, for the record and the comment', { required: true }],
    ...WHO_OPTION,
    '--result <file>': 'for edit: the corrected work result, as JSON',
    '--comments <file>': 'line comments on the change, as JSON: [{ path, line, side, text }]',
    ...NEEDLESS_JSON_OPTION,
  },
  notes: 'Exit codes: 0 decided, 2 refused (already decided, another run is active, nothing to accept).',
  async run({ id, action, why, ...flags }, io) {
    const who = readAuthor(flags.who);
    if (action === 'edit' && flags.result === undefined)
      throw new MisuseError('--action edit needs the corrected work result. Add --result FILE.');
    const readFlag = async (file: string | undefined) => (file === undefined ? undefined : readJsonFile(file, io));
    const result = await readFlag(flags.result);
    // The lead validates the comments.
    const comments = (await readFlag(flags.comments)) as readonly LineComment[] | undefined;
    return withContext(flags, io, async ({ lead }) => {
      const request = { id, action, why, who, ...omitUndefined({ result, comments }) };
      const { item, decision, order } = await lead.resolve(request);
      await lead.deliver();
      const { reason, next } = decision;
      await printJson({ item, action: decision.action, reason, next, new_run: order ?? null }, io);
      if (order !== undefined)
        await io.stderr.write(`Queued as run ${order.run_id}. Start sluice worker to execute it.\n`);
    });
  },
});

/** Returns the name to record: the login name, or the given one, which anyone with a shell can choose. */
export function readAuthor(givenName: string | undefined): string {
  if (givenName !== undefined) return markUnverified(givenName);
  try {
    return userInfo().username;
  } catch (cause) {
    // In a container, the user might not have a name.
    throw new MisuseError('Cannot determine your user name. Pass --who.', { cause });
  }
}

/** How long to wait for the run to receive a reply. */
const TIMEOUT_MS = 30_000;

export const addReplyCommand = defineCommand('reply', {
  summary: "answer a waiting run's question",
  args: { '<run>': 'id of the run' },
  options: {
    ...CONTEXT_OPTIONS,
    '--text <text>': 'answer to a question that is not a permission request',
    '--question <id>': 'id of the permission request, such as px_1_2, if more than one is open',
    '--why <text>': 'reason, for the record',
    ...WHO_OPTION,
    '--allow': ['allow the tool call, if possible only this once', { conflicts: ['deny', 'text'] }],
    '--deny': ['deny the tool call', { conflicts: ['allow', 'text'] }],
  },
  notes: 'Exit codes: 0 the run has received the reply, 2 usage error, or the run has not received the reply.',
  async run({ run, text, allow, deny, ...flags }, io) {
    if (text === undefined && allow !== true && deny !== true)
      throw new MisuseError('No reply given. Use --allow, --deny or --text.');
    return withContext(flags, io, async ({ store }) => {
      const { answerPermission, replyToRun } = await import('../../server/index.js');
      const options = { store, shutdownSignal: new AbortController().signal, timeoutMs: TIMEOUT_MS };
      const answer = { ...flags, decision: allow === true ? 'allow' : 'deny' } as const;
      const status =
        text === undefined
          ? await answerPermission(options, run, await chooseAnswer(store, run, answer))
          : await replyToRun(options, run, text);
      if (status === 'not_found') throw createUnknownRunError(run);
      if (status === 'not_waiting')
        throw new SluiceError(
          'RUN_NOT_WAITING',
          `Run "${run}" is not waiting for this reply: it has not asked, was answered or has ended. ${text === undefined ? 'The answer is kept with the run. ' : ''}Open it in the console.`,
        );
      await printJson({ run, status }, io);
    });
  },
});

function createUnknownRunError(run: string): MisuseError {
  return new MisuseError(`Run "${run}" not found. Check --data and --database.`);
}

/** Builds the answer to a permission request. One that is no longer open is refused later, and the answer is kept. */
async function chooseAnswer(
  store: Store,
  run: string,
  { decision, question, why, who }: { decision: 'allow' | 'deny'; question?: string; why?: string; who?: string },
) {
  const { chooseOption } = await import('../../runs/index.js');
  const { asked, open } = await findPermissions(store, run);
  const request =
    question === undefined ? (open[0] ?? asked.at(-1)) : asked.find(({ interaction_id: id }) => id === question);
  if (request === undefined || (question === undefined && open.length > 1)) {
    const choices = open.map(({ interaction_id: id, tool }) => `${id} (${tool})`).join(', ');
    if ((await store.findRun(run)) === undefined) throw createUnknownRunError(run);
    throw new MisuseError(
      choices === ''
        ? `Run "${run}" is not waiting for permission: it has not asked, was answered or has ended. Open it in the console.`
        : `Choose an open permission request of run "${run}" with --question: ${choices}.`,
    );
  }
  const option = chooseOption(request.options, decision);
  if (option === null) {
    const labels = request.options.map(({ label }) => label).join(', ');
    throw new MisuseError(
      `The agent does not offer this answer, only: ${labels}. Use the console or POST /v1/runs/{id}/reply.`,
    );
  }
  const { interaction_id } = request;
  return { interaction_id, option_id: option.id, who: readAuthor(who), ...omitUndefined({ why }) };
}

async function findPermissions(store: Store, run: string) {
  const { updateQuestions } = await import('../../server/index.js');
  let questions: ReturnType<typeof updateQuestions> = [];
  const asked: FcmpData<'permission.required'>[] = [];
  for await (const { protocol, event } of readEventLog(store, run, 'fcmp')) {
    if (protocol !== 'fcmp') continue;
    questions = updateQuestions(questions, [event]);
    asked.push(...pickPermissions([event]));
  }
  return { asked, open: pickPermissions(questions) };
}

function pickPermissions(events: readonly FcmpEvent[]): readonly FcmpData<'permission.required'>[] {
  return events.flatMap(({ type, data }) => (type === 'permission.required' ? [data] : []));
}

export const addDiffCommand = defineCommand('diff', {
  summary: 'show the changes made for the newest order of an issue, or by each run of its race',
  args: { '<issue>': 'issue reference, such as acme/shop#12' },
  options: { ...CONTEXT_OPTIONS, ...JSON_OPTION },
  async run({ issue, ...flags }, io) {
    const { readRace } = await import('../../orders/dispatch/index.js');
    const race = await readRecords(flags, io, async ({ store, lead, config }) => {
      const { repos, filters } = lead;
      const maskText = (text: string): string => lead.maskText(text);
      return readRace({ store, data: config.data, maskText, repos, filters }, issue);
    });
    if (race === undefined)
      throw new MisuseError(`Issue "${issue}" not found. Use sluice executions to list executed orders.`);
    if (wantsJson(flags, io)) return printJson(race, io);
    return io.stdout.write(io.stdout.hasColors === true ? colorPatch(renderRace(race)) : renderRace(race));
  },
});

function renderRace({ runs, winner }: Race): string {
  return runs.map((run) => `${renderHead(run, winner)}\n${renderChange(run.change)}`).join('\n');
}

function renderHead({ run_id, worker, state, decision }: Race['runs'][number], winner: string | null): string {
  const outcome = decision === null ? state : `${decision.action}: ${decision.reason}`;
  return makeVisible(`== ${run_id} (${worker})${run_id === winner ? ', winner' : ''}: ${outcome}`);
}

function renderChange({ files, truncated, why }: Change): string {
  const renderedFiles = files.map(renderFile);
  const note = truncated ? ['More files were changed than are listed here.'] : [];
  return `${[...(why === undefined ? [] : [makeVisible(why)]), ...renderedFiles, ...note].join('\n')}\n`;
}

const SIGNS = { same: ' ', added: '+', removed: '-' } as const;

function renderFile({ path, old_path, change, added, removed, binary, truncated, hunks }: ChangedFile): string {
  const name = old_path === undefined ? path : `${old_path} -> ${path}`;
  const lines = hunks.flatMap(({ heading, lines: hunkLines }) => [
    heading,
    ...hunkLines.map(({ kind, text }) => `${SIGNS[kind]}${text}`),
  ]);
  return [
    `--- ${name} (${change}, +${added} -${removed}${binary ? ', binary' : ''})`,
    ...lines,
    ...(truncated ? ['… more lines were changed'] : []),
  ]
    .map((line) => makeVisible(line))
    .join('\n');
}

export const addOrderCommand = defineCommand('order', {
  summary: 'execute an order, deliver its comment and print the decision',
  args: { '<file>': 'work request as JSON, or - for standard input' },
  options: { ...CONTEXT_OPTIONS, ...NEEDLESS_JSON_OPTION },
  notes:
    'Exit codes: 0 the issue advances to review, 1 it does not, 2 usage error, 130 interrupted (the order is moved to the inbox).',
  async run({ file, ...flags }, io) {
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
  },
});

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

function summarizeRun({ order, state, decision, run }: OrderRecord) {
  const { run_id, worker } = order;
  const { action = null, result_code = null, reason = null } = decision ?? {};
  return { run_id, worker, run, state, action, result_code, reason };
}

async function summarize(record: OrderRecord, { store }: CommandContext): Promise<object> {
  const { issue_ref, run_id } = record.order;
  const { next = null, evidence = [] } = record.decision ?? {};
  const [execution] = (await store.listExecutions({ issueRef: issue_ref, runId: run_id, limit: 1 })).items;
  const messages = await store.listOutbox({ issueRef: issue_ref });
  const comments = messages.items
    .filter(({ trigger }) => trigger === `workrun:${run_id}`)
    .map(({ sink, state, delivered_to }) => ({ sink, state, delivered_to }));
  const source = execution?.result_encoding ?? 'none';
  return { issue_ref, ...summarizeRun(record), next, evidence, source, comments };
}

export const addDemoCommand = defineCommand('demo', {
  summary: 'run four demo orders: their agents write JSON, write text, only print, or replay a recorded agent',
  options: { ...CONTEXT_OPTIONS, ...JSON_OPTION },
  async run(flags, io) {
    const { runDemo } = await import('../../orders/dispatch/index.js');
    const { data, database } = await loadCommandConfig(flags, io);
    await io.stderr.write('Running four demo orders.\n');
    await prepareDataFolder(data);
    const report = await runDemo({ data, database });
    if (wantsJson(flags, io)) return printJson(report, io);
    return io.stdout.write(renderReport(report));
  },
});

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
