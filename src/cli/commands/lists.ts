import { Option, InvalidArgumentError, type Command } from 'commander';
import { omitUndefined } from '../../base/index.js';
import { describeWaitingFor, type Budget, type InboxItem } from '../../store/records/index.js';
import { withContext, withContextOptions, type CommandContext } from '../command-context.js';
import type { ConfigFlags } from '../../server/config/index.js';
import type { CommandIo } from '../command-io.js';
import { addOptions, type FlagsOf } from '../options.js';
import { EXIT, MisuseError, type ExitCode } from '../failure.js';
import { printJson, printRows, wantsJson, type Column } from '../print.js';
import { formatLine, makeVisible } from '../terminal-text.js';
import { FORMATS } from '../../json/schema/index.js';
import type { Listed, Page } from '../../store/ports/index.js';

interface ListFlags extends ConfigFlags {
  readonly json?: boolean;
}

const JSON_OPTION = 'print all fields as a JSON array, even at a terminal';

/** Reads records without creating a folder or a database. */
async function readRecords<T>(
  flags: ConfigFlags,
  io: CommandIo,
  read: (context: CommandContext) => Promise<T>,
): Promise<T> {
  return withContext(flags, io, read, { isReadOnly: true });
}

async function printList<Row extends object>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  flags: ListFlags,
  io: CommandIo,
): Promise<ExitCode> {
  await printRows(rows, columns, flags, io);
  return EXIT.success;
}

const INBOX_OPTIONS = {
  '--all': 'include resolved items',
  '--issue <ref>': 'only this issue',
} as const;

type InboxFlags = ListFlags & FlagsOf<typeof INBOX_OPTIONS> & { readonly limit: number };

export function addInboxCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  addOptions(withContextOptions(program.command('inbox')), INBOX_OPTIONS)
    .description('list results that need a decision, oldest first, or show one with its evidence')
    .argument('[id]', 'id of the item to show')
    .addOption(createLimitOption())
    .option('--json', JSON_OPTION)
    .action(async (id: string | undefined, flags: InboxFlags) =>
      end(await (id === undefined ? runInbox(flags, io) : showItem(id, flags, io))),
    );
}

async function showItem(id: string, flags: InboxFlags, io: CommandIo): Promise<ExitCode> {
  const item = await readRecords(flags, io, async ({ store }) => store.findItem(id));
  if (item === undefined) throw new MisuseError(`Inbox item "${id}" not found. Use sluice inbox --all to list ids.`);
  if (wantsJson(flags, io)) await printJson(item, io);
  else await io.stdout.write(makeVisible(`${renderItem(item)}\n`));
  return EXIT.success;
}

/** Renders an item: why it needs a decision, and the evidence, with the patch of files that steer a check. */
function renderItem({ id, issue_ref, run_id, reason, next, evidence = [] }: InboxItem): string {
  const facts = evidence.flatMap(({ claim, verdict, detail, diff }) => [
    `${verdict.padEnd(12)} ${claim}: ${detail}`,
    ...(diff === undefined ? [] : [diff.trimEnd()]),
  ]);
  return [`${id}: ${issue_ref}, run ${run_id}`, reason, next, '', ...facts].join('\n');
}

async function runInbox(flags: InboxFlags, io: CommandIo): Promise<ExitCode> {
  const filter = omitUndefined({ issueRef: flags.issue, open: flags.all === true ? undefined : true });
  const items = await readRecords(flags, io, async ({ store }) =>
    readPages(flags.limit, async (page) => store.listInbox({ ...page, ...filter })),
  );
  return printList(
    items,
    [
      { heading: 'ID', value: ({ id }) => id },
      { heading: 'ISSUE', value: ({ issue_ref }) => issue_ref },
      { heading: 'RUN', value: ({ run_id }) => run_id },
      { heading: 'SINCE', value: ({ created_at }) => created_at },
      { heading: 'REASON', value: ({ reason }) => reason },
    ],
    flags,
    io,
  );
}

interface RedeliverFlags extends ConfigFlags {
  readonly sink?: string;
}

const OUTBOX_OPTIONS = {
  '--state <state>': ['only this state', ['waiting', 'sending', 'delivered', 'dead']],
  '--issue <ref>': 'only this issue',
  '--deliver': 'send due comments first',
} as const;

type OutboxFlags = ListFlags & FlagsOf<typeof OUTBOX_OPTIONS> & { readonly limit: number };

export function addOutboxCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  const outbox = addOptions(withContextOptions(program.command('outbox')), OUTBOX_OPTIONS)
    .description('list comments and their delivery state, newest first')
    .addOption(createLimitOption())
    .option('--json', JSON_OPTION)
    .action(async (flags: OutboxFlags) => end(await runOutbox(flags, io)));
  withContextOptions(outbox.command('redeliver'))
    .description('send undelivered comments again')
    .argument('[id]', 'id of the comment to resend')
    .option('--sink <name>', 'resend all undelivered comments of this sink')
    .action(async (id: string | undefined, flags: RedeliverFlags) => end(await runRedeliver(id, flags, io)));
}

async function runRedeliver(id: string | undefined, flags: RedeliverFlags, io: CommandIo): Promise<ExitCode> {
  const { sink } = flags;
  if ((id === undefined) === (sink === undefined)) {
    throw new MisuseError('Pass either the id of a comment or --sink NAME. Use sluice outbox --json to list ids.');
  }
  const selection = id === undefined ? { sink: sink ?? '' } : { id };
  const count = await withContext(flags, io, async ({ store, lead }) => {
    const redelivered = await store.redeliver(selection, store.now());
    await lead.deliver();
    return redelivered;
  });
  // A sink can have no undelivered comments, but an id must identify an undelivered comment.
  if (count === 0 && id !== undefined) {
    await io.stderr.write(formatLine(`No undelivered comment "${id}" found. Use sluice outbox --json to list ids.`));
    return EXIT.failed;
  }
  const comments = count === 1 ? '1 comment' : `${count} comments`;
  await io.stderr.write(`${comments} resent. Use sluice outbox to see the outcome.\n`);
  return EXIT.success;
}

async function runOutbox(flags: OutboxFlags, io: CommandIo): Promise<ExitCode> {
  const filter = omitUndefined({ state: flags.state, issueRef: flags.issue });
  const messages = await withContext(
    flags,
    io,
    async ({ store, lead }) => {
      if (flags.deliver === true) await lead.deliver();
      return readPages(flags.limit, async (page) => store.listOutbox({ ...page, ...filter }));
    },
    { isReadOnly: flags.deliver !== true },
  );
  return printList(
    messages,
    [
      { heading: 'ISSUE', value: ({ issue_ref }) => issue_ref },
      { heading: 'TRIGGER', value: ({ trigger }) => trigger },
      { heading: 'SINK', value: ({ sink }) => sink },
      { heading: 'STATE', value: ({ state }) => state },
      { heading: 'TRIES', value: ({ tries }) => tries },
      { heading: 'DESTINATION OR ERROR', value: ({ delivered_to, last_error }) => delivered_to ?? last_error },
    ],
    flags,
    io,
  );
}

const EXECUTIONS_OPTIONS = {
  '--issue <ref>': 'only this issue',
  '--run <id>': 'only this run',
  '--worker <name>': 'only orders for this wrapper',
  '--decision <action>': ['only this decision', ['advance', 'archive', 'needs-human', 'blocked']],
  '--since <time>': ['from this time: 2026-11-15 or 2026-11-15T08:00:00Z', parseTime],
  '--until <time>': ['before this time', parseTime],
} as const;

type ExecutionsFlags = ListFlags &
  FlagsOf<typeof EXECUTIONS_OPTIONS> & { readonly limit: number; readonly csv?: boolean };

export function addExecutionsCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  addOptions(withContextOptions(program.command('executions')), EXECUTIONS_OPTIONS)
    .description('list executions and their decisions, newest first')
    .addOption(createLimitOption())
    .option('--json', JSON_OPTION)
    .addOption(new Option('--csv', 'print all fields as CSV').conflicts('json'))
    .action(async (flags: ExecutionsFlags) => end(await runExecutions(flags, io)));
}

async function runExecutions(flags: ExecutionsFlags, io: CommandIo): Promise<ExitCode> {
  const { issue: issueRef, run: runId, worker, decision, since, until } = flags;
  const filter = omitUndefined({ issueRef, runId, worker, decision, since, until });
  const rows = await readRecords(flags, io, async ({ store }) =>
    readPages(flags.limit, async (page) => store.listExecutions({ ...page, ...filter })),
  );
  if (flags.csv === true) {
    const { formatExecutionHeading, formatExecutionRow } = await import('../../server/index.js');
    await io.stdout.write(formatExecutionHeading() + rows.map(formatExecutionRow).join(''));
    return EXIT.success;
  }
  return printList(
    rows,
    [
      { heading: 'TIME', value: ({ at }) => at },
      { heading: 'ISSUE', value: ({ issue_ref }) => issue_ref },
      { heading: 'RUN', value: ({ run_id }) => run_id },
      { heading: 'WRAPPER', value: (row) => row.worker },
      { heading: 'EXIT', value: ({ exit_code, signal }) => signal ?? exit_code },
      { heading: 'RESULT', value: ({ result_encoding, parse_status }) => `${result_encoding}, ${parse_status}` },
      { heading: 'DECISION', value: (row) => row.decision },
      { heading: 'REASON', value: ({ reason }) => reason },
    ],
    flags,
    io,
  );
}

export function addWorkersCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('workers'))
    .description('list the workers that share the database, most recently seen first')
    .option('--json', JSON_OPTION)
    .addHelpText('after', '\nA worker that stops reporting is listed as "gone" for one day.')
    .action(async (flags: ListFlags) => end(await runWorkers(flags, io)));
}

async function runWorkers(flags: ListFlags, io: CommandIo): Promise<ExitCode> {
  const workers = await readRecords(flags, io, async ({ store }) => store.listWorkers(store.now()));
  return printList(
    workers,
    [
      { heading: 'HOST', value: ({ host }) => host },
      { heading: 'STATE', value: ({ state }) => state },
      { heading: 'BUSY', value: ({ busy, capacity }) => `${busy} of ${capacity}` },
      { heading: 'VERSION', value: ({ version }) => version },
      { heading: 'LAST SEEN', value: ({ seen_at }) => seen_at },
      { heading: 'ID', value: ({ id }) => id },
    ],
    flags,
    io,
  );
}

export function addBudgetsCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('budgets'))
    .description('show how much of each budget is used, and the runs that wait for a budget')
    .option('--json', 'print all fields as JSON, even at a terminal')
    .action(async (flags: ListFlags) => end(await runBudgets(flags, io)));
}

async function runBudgets(flags: ListFlags, io: CommandIo): Promise<ExitCode> {
  const { reportBudgets } = await import('../../orders/dispatch/index.js');
  const report = await readRecords(flags, io, async ({ store, config }) =>
    reportBudgets(store, config.budgets ?? {}, store.now()),
  );
  if (wantsJson(flags, io)) {
    await printJson(report, io);
    return EXIT.success;
  }
  const columns: readonly Column<Budget>[] = [
    { heading: 'BUDGET', value: ({ scope }) => scope },
    { heading: 'NAME', value: ({ name }) => name },
    { heading: 'TOKENS', value: ({ tokens }) => formatAmount(tokens) },
    { heading: 'COST', value: ({ cost }) => formatAmount(cost, '$') },
  ];
  await printRows(report.items, columns, flags, io);
  for (const { run, ...wait } of report.waiting) {
    const reason = describeWaitingFor({ reason: 'budget', ...wait });
    await io.stdout.write(formatLine(`Run ${run} is waiting for ${reason}.`));
  }
  return EXIT.success;
}

function formatAmount(amount: Budget['tokens'], sign = ''): string | null {
  if (amount === null) return null;
  const format = (value: number): string => `${sign}${value.toLocaleString('en-US', { maximumFractionDigits: 4 })}`;
  const reserved = amount.held > amount.used ? `, ${format(amount.held - amount.used)} reserved` : '';
  return `${format(amount.used)} of ${format(amount.limit)}${reserved}`;
}

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000_000;

export function createLimitOption(): Option {
  return new Option('--limit <n>', 'maximum number of entries').default(DEFAULT_LIMIT).argParser((value) => {
    const limit = Number(value);
    if (!(Number.isInteger(limit) && limit > 0 && limit <= MAX_LIMIT)) {
      throw new InvalidArgumentError(`Use a whole number from 1 to ${MAX_LIMIT}.`);
    }
    return limit;
  });
}

/** Parses a date or time and formats it as in records, where times are compared as strings. */
export function parseTime(value: string): string {
  const isTime = ['date', 'date-time'].some((format) => FORMATS.get(format)?.(value) === true);
  const time = new Date(isTime ? value : Number.NaN);
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  throw new InvalidArgumentError('Use a date (2026-11-15) or a time (2026-11-15T08:00:00Z).');
}

const PAGE_SIZE = 200;

/** Reads the first `limit` items of a paged list. */
export async function readPages<Item>(
  limit: number,
  read: (page: Page) => Promise<Listed<Item>>,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const page: Listed<Item> = await read({
      limit: Math.min(PAGE_SIZE, limit - items.length),
      ...(cursor === null ? {} : { cursor }),
    });
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null && items.length < limit);
  return items;
}
