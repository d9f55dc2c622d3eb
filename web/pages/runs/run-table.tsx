import { ROW, type Column } from '../../ui/row-table.js';
import { signal } from '@preact/signals';
import type { RunSummary } from '../../../src/server/api/index.js';
import { toPath } from '../../app/route.js';
import { readStored, writeStored } from '../../app/storage.js';
import { findOpenItem, waiting } from '../../data/waiting.js';
import { RepairLevel, StateBadge, WaitingFor } from '../../ui/parts.js';
import {
  formatCost,
  formatDuration,
  formatShort,
  formatUsage,
  formatWait,
  Timestamp,
  toOneLine,
  SafeText,
} from '../../ui/text.js';
import { t } from './texts.js';

/** Lists the columns of the table: the state, the chosen optional columns, and the task, which links to the run. */
export function listColumns(): readonly Column<RunSummary>[] {
  const optional = columns.value.map((name) => OPTIONAL[name]);
  const isIssueShown = columns.value.includes('issue');
  return [
    { name: t.state, width: '9.6rem', cell: (run) => <RunState run={run} /> },
    ...optional.slice(0, isIssueShown ? 1 : 0),
    { name: t.states.task, class: 'wide', cell: (run) => <Task run={run} /> },
    ...optional.slice(isIssueShown ? 1 : 0),
  ];
}

function RunState({ run }: Readonly<{ run: RunSummary }>) {
  const { state, isLive } = describeRun(run, Date.now(), findOpenItem(waiting.value, run.id) !== undefined);
  return <StateBadge state={state} isLive={isLive} />;
}

/** The first line of the task and, after it, why the run waits or failed. */
function Task({ run }: Readonly<{ run: RunSummary }>) {
  const { title, failure } = describeRun(run, Date.now());
  return (
    <>
      <a {...ROW} class="clip" href={toPath({ page: 'run', id: run.id })}>
        <SafeText text={title} />
      </a>
      {run.waiting_for === null ? null : (
        <span class="below">
          <WaitingFor waiting={run.waiting_for} />
        </span>
      )}
      {failure === null ? null : <SafeText as="span" class="below" text={failure} />}
    </>
  );
}

export const OPTIONAL = {
  issue: {
    name: t.issue,
    width: '8.8rem',
    class: 'nowrap',
    cell: ({ order }) =>
      order === null ? null : <a href={toPath({ page: 'issues', ref: order.issue_ref })}>{order.issue_ref}</a>,
  },
  engine: {
    name: t.states.engine,
    width: '5.8rem',
    class: 'nowrap',
    cell: ({ engine, spec }) => <span title={spec.model}>{engine}</span>,
  },
  model: {
    name: t.states.model,
    width: '9rem',
    cell: ({ spec }) => <SafeText as="span" class="small" text={spec.model ?? ''} />,
  },
  error: {
    name: t.error,
    width: '10.6rem',
    cell: ({ result }) =>
      result?.error === undefined ? null : (
        <code class="error-code" title={toOneLine(result.error.message)}>
          {result.error.code}
        </code>
      ),
  },
  repair: {
    name: t.repair,
    width: '7rem',
    cell: ({ result }) =>
      result?.status === 'success' ? (
        <RepairLevel level={result.repair_level} kinds={result.repair_kinds ?? []} />
      ) : null,
  },
  tokens: {
    name: t.tokens,
    width: '4.6rem',
    isNumber: true,
    cell: ({ result }) =>
      result?.usage === undefined ? null : (
        <span title={formatUsage(result.usage)}>
          {formatShort(result.usage.input_tokens + result.usage.output_tokens)}
        </span>
      ),
  },
  cost: {
    name: t.cost,
    width: '4.9rem',
    isNumber: true,
    cell: ({ result }) =>
      result?.usage === undefined
        ? ''
        : formatCost({ value: result.usage.cost ?? 0, isComplete: result.usage.cost !== undefined }),
  },
  folder: {
    name: t.folder,
    width: '12rem',
    cell: ({ spec }) => <SafeText as="span" class="small" text={spec.workdir ?? ''} limit={200} />,
  },
  created: {
    name: t.createdAt,
    width: '9.5rem',
    class: 'nowrap',
    cell: ({ created_at }) => <Timestamp at={created_at} />,
  },
  duration: {
    name: t.duration,
    width: '7rem',
    isNumber: true,
    cell: (run) => {
      const { durationMs } = describeRun(run, Date.now());
      return durationMs === null ? '' : formatDuration(durationMs);
    },
  },
  age: {
    name: t.age,
    width: '4.6rem',
    isNumber: true,
    cell: ({ created_at }) => (
      <time dateTime={created_at} title={created_at}>
        {formatWait(Math.max(0, Date.now() - Date.parse(created_at)))}
      </time>
    ),
  },
} satisfies Record<string, Column<RunSummary>>;

type OptionalColumn = keyof typeof OPTIONAL;

export const OPTIONAL_COLUMNS = Object.keys(OPTIONAL) as readonly OptionalColumn[];

const COLUMNS_KEY = 'sluice.columns';

const HIDDEN: readonly OptionalColumn[] = ['model', 'repair', 'folder', 'created', 'duration'];

/** The visible optional columns; by default those that fit next to a task. */
export const columns = signal(readColumns(readStored(COLUMNS_KEY)));

export function readColumns(stored: string | null): readonly OptionalColumn[] {
  const names = stored?.split(',');
  return OPTIONAL_COLUMNS.filter((column) => names?.includes(column) ?? !HIDDEN.includes(column));
}

export function toggleColumn(column: OptionalColumn): void {
  columns.value = OPTIONAL_COLUMNS.filter((name) => columns.value.includes(name) !== (name === column));
  writeStored(COLUMNS_KEY, columns.value.join(','));
}

export function describeTotals(runs: readonly RunSummary[]): string {
  const outcomes = new Map<keyof typeof t.counted, number>();
  let tokens = 0;
  let cost = 0;
  let isComplete = true;
  for (const { state, result } of runs) {
    const outcome = result?.status ?? state;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    tokens += (result?.usage?.input_tokens ?? 0) + (result?.usage?.output_tokens ?? 0);
    cost += result?.usage?.cost ?? 0;
    isComplete &&= result?.usage === undefined || result.usage.cost !== undefined;
  }
  return [
    [...outcomes].map(([outcome, count]) => `${count} ${t.counted[outcome]}`).join(', '),
    ...(tokens === 0 ? [] : [t.tokenCount(formatShort(tokens))]),
    ...(cost === 0 ? [] : [formatCost({ value: cost, isComplete })]),
  ].join(' · ');
}

/** Describes a run for the list. `needsPerson`: an inbox item about it is open. */
export function describeRun(
  { state, title, result, started_at, ended_at, cancel_requested }: RunSummary,
  now: number,
  needsDecision = false,
) {
  const isLive = state === 'running';
  return {
    state: cancel_requested && isLive ? 'canceling' : needsDecision ? 'needs-human' : (result?.status ?? state),
    isLive,
    title: title === '' ? t.noPrompt : title,
    failure: result?.error === undefined ? null : toOneLine(result.error.message),
    // The duration would be negative if the local clock is slightly behind the server's.
    durationMs:
      started_at === null
        ? null
        : Math.max(0, (ended_at === null ? now : Date.parse(ended_at)) - Date.parse(started_at)),
  };
}
