import { InvalidArgumentError } from 'commander';
import { omitUndefined } from '../../base/index.js';
import { describeWaitingFor, type Budget, type InboxItem } from '../../store/records/index.js';
import { CONTEXT_OPTIONS, readRecords, withContext } from '../command-context.js';
import { defineCommand } from '../command.js';
import { EXIT, MisuseError } from '../failure.js';
import { printJson, printRows, wantsJson } from '../print.js';
import { formatLine, makeVisible } from '../terminal-text.js';
import { FORMATS } from '../../json/schema/index.js';
import type { Listed, Page } from '../../store/ports/index.js';

const JSON_OPTION = { '--json': 'print all fields as a JSON array, even at a terminal' } as const;
const PAGE_OPTIONS = {
  '--limit <n>': ['maximum number of entries', { parse: parseLimit, default: 100 }],
  ...JSON_OPTION,
} as const;

export const addInboxCommand = defineCommand('inbox', {
  summary: 'list results that need a decision, oldest first, or show one with its evidence',
  args: { '[id]': 'id of the item to show' },
  options: {
    ...CONTEXT_OPTIONS,
    '--all': 'include resolved items',
    '--issue <ref>': 'only this issue',
    ...PAGE_OPTIONS,
  },
  async run({ id, ...flags }, io) {
    if (id !== undefined) {
      const item = await readRecords(flags, io, async ({ store }) => store.findItem(id));
      if (item === undefined)
        throw new MisuseError(`Inbox item "${id}" not found. Use sluice inbox --all to list ids.`);
      if (wantsJson(flags, io)) return printJson(item, io);
      return io.stdout.write(makeVisible(`${renderItem(item)}\n`));
    }
    const filter = omitUndefined({ issueRef: flags.issue, open: flags.all === true ? undefined : true });
    const items = await readRecords(flags, io, async ({ store }) =>
      readPages(flags.limit, async (page) => store.listInbox({ ...page, ...filter })),
    );
    const columns = { ID: 'id', ISSUE: 'issue_ref', RUN: 'run_id', SINCE: 'created_at', REASON: 'reason' } as const;
    return printRows(items, columns, flags, io);
  },
});

/** Renders an item: why it needs a decision, and the evidence, with the patch of files that steer a check. */
function renderItem({ id, issue_ref, run_id, reason, next, evidence = [] }: InboxItem): string {
  const facts = evidence.flatMap(({ claim, verdict, detail, diff }) => [
    `${verdict.padEnd(12)} ${claim}: ${detail}`,
    ...(diff === undefined ? [] : [diff.trimEnd()]),
  ]);
  return [`${id}: ${issue_ref}, run ${run_id}`, reason, next, '', ...facts].join('\n');
}

const addRedeliverCommand = defineCommand('redeliver', {
  summary: 'send undelivered comments again',
  args: { '[id]': 'id of the comment to resend' },
  options: { ...CONTEXT_OPTIONS, '--sink <name>': 'resend all undelivered comments of this sink' },
  async run({ id, sink, ...flags }, io) {
    if ((id === undefined) === (sink === undefined))
      throw new MisuseError('Pass either the id of a comment or --sink NAME. Use sluice outbox --json to list ids.');
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
  },
});

export const addOutboxCommand = defineCommand('outbox', {
  summary: 'list comments and their delivery state, newest first',
  options: {
    ...CONTEXT_OPTIONS,
    '--state <state>': ['only this state', ['waiting', 'sending', 'delivered', 'dead']],
    '--issue <ref>': 'only this issue',
    '--deliver': 'send due comments first',
    ...PAGE_OPTIONS,
  },
  subcommands: [addRedeliverCommand],
  async run({ state, issue, deliver = false, ...flags }, io) {
    const filter = omitUndefined({ state, issueRef: issue });
    const messages = await withContext(
      flags,
      io,
      async ({ store, lead }) => {
        if (deliver) await lead.deliver();
        return readPages(flags.limit, async (page) => store.listOutbox({ ...page, ...filter }));
      },
      { isReadOnly: !deliver },
    );
    const columns = {
      ISSUE: 'issue_ref',
      TRIGGER: 'trigger',
      SINK: 'sink',
      STATE: 'state',
      TRIES: 'tries',
      'DESTINATION OR ERROR': ({ delivered_to, last_error }: (typeof messages)[number]) => delivered_to ?? last_error,
    } as const;
    return printRows(messages, columns, flags, io);
  },
});

export const addExecutionsCommand = defineCommand('executions', {
  summary: 'list executions and their decisions, newest first',
  options: {
    ...CONTEXT_OPTIONS,
    '--issue <ref>': 'only this issue',
    '--run <id>': 'only this run',
    '--worker <name>': 'only orders for this wrapper',
    '--decision <action>': ['only this decision', ['advance', 'archive', 'needs-human', 'blocked']],
    '--since <time>': ['from this time: 2026-11-15 or 2026-11-15T08:00:00Z', parseTime],
    '--until <time>': ['before this time', parseTime],
    ...PAGE_OPTIONS,
    '--csv': ['print all fields as CSV', { conflicts: ['json'] }],
  },
  async run({ issue: issueRef, run: runId, worker, decision, since, until, ...flags }, io) {
    const filter = omitUndefined({ issueRef, runId, worker, decision, since, until });
    const rows = await readRecords(flags, io, async ({ store }) =>
      readPages(flags.limit, async (page) => store.listExecutions({ ...page, ...filter })),
    );
    if (flags.csv === true) {
      const { formatExecutionHeading, formatExecutionRow } = await import('../../server/index.js');
      return io.stdout.write(formatExecutionHeading() + rows.map(formatExecutionRow).join(''));
    }
    type Row = (typeof rows)[number];
    const columns = {
      TIME: 'at',
      ISSUE: 'issue_ref',
      RUN: 'run_id',
      WRAPPER: 'worker',
      EXIT: ({ exit_code, signal }: Row) => signal ?? exit_code,
      RESULT: ({ result_encoding, parse_status }: Row) => `${result_encoding}, ${parse_status}`,
      DECISION: 'decision',
      REASON: 'reason',
    } as const;
    return printRows(rows, columns, flags, io);
  },
});

export const addWorkersCommand = defineCommand('workers', {
  summary: 'list the workers that share the database, most recently seen first',
  options: { ...CONTEXT_OPTIONS, ...JSON_OPTION },
  notes: 'A worker that stops reporting is listed as "gone" for one day.',
  async run(flags, io) {
    const workers = await readRecords(flags, io, async ({ store }) => store.listWorkers(store.now()));
    const columns = {
      HOST: 'host',
      STATE: 'state',
      BUSY: ({ busy, capacity }: (typeof workers)[number]) => `${busy} of ${capacity}`,
      VERSION: 'version',
      'LAST SEEN': 'seen_at',
      ID: 'id',
    } as const;
    return printRows(workers, columns, flags, io);
  },
});

export const addBudgetsCommand = defineCommand('budgets', {
  summary: 'show how much of each budget is used, and the runs that wait for a budget',
  options: { ...CONTEXT_OPTIONS, '--json': 'print all fields as JSON, even at a terminal' },
  async run(flags, io) {
    const { reportBudgets } = await import('../../orders/dispatch/index.js');
    const report = await readRecords(flags, io, async ({ store, config }) =>
      reportBudgets(store, config.budgets ?? {}, store.now()),
    );
    if (wantsJson(flags, io)) return printJson(report, io);
    const columns = {
      BUDGET: 'scope',
      NAME: 'name',
      TOKENS: ({ tokens }: Budget) => formatAmount(tokens),
      COST: ({ cost }: Budget) => formatAmount(cost, '$'),
    } as const;
    await printRows(report.items, columns, flags, io);
    for (const { run, ...wait } of report.waiting) {
      const reason = describeWaitingFor({ reason: 'budget', ...wait });
      await io.stdout.write(formatLine(`Run ${run} is waiting for ${reason}.`));
    }
  },
});

function formatAmount(amount: Budget['tokens'], sign = ''): string | null {
  if (amount === null) return null;
  const format = (value: number): string => `${sign}${value.toLocaleString('en-US', { maximumFractionDigits: 4 })}`;
  const reserved = amount.held > amount.used ? `, ${format(amount.held - amount.used)} reserved` : '';
  return `${format(amount.used)} of ${format(amount.limit)}${reserved}`;
}

const MAX_LIMIT = 1_000_000;

function parseLimit(value: string): number {
  const limit = Number(value);
  if (Number.isInteger(limit) && limit > 0 && limit <= MAX_LIMIT) return limit;
  throw new InvalidArgumentError(`Use a whole number from 1 to ${MAX_LIMIT}.`);
}

/** Parses a date or time and formats it as in records, where times are compared as strings. */
export function parseTime(value: string): string {
  const isTime = ['date', 'date-time'].some((format) => FORMATS.get(format)?.(value) === true);
  const time = new Date(isTime ? value : Number.NaN);
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  throw new InvalidArgumentError('Use a date (2026-11-15) or a time (2026-11-15T08:00:00Z).');
}

const PAGE_SIZE = 200;

async function readPages<Item>(limit: number, read: (page: Page) => Promise<Listed<Item>>): Promise<readonly Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  do {
    const page = await read({ limit: Math.min(PAGE_SIZE, limit - items.length), ...omitUndefined({ cursor }) });
    items.push(...page.items);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined && items.length < limit);
  return items;
}
