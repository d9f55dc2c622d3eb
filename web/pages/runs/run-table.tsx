import { ROW, type Column } from '../../ui/row-table.js';
import { signal } from '@preact/signals';
import type { RunSummary } from '../../../src/server/api/index.js';
import { toPath } from '../../app/route.js';
import { readStored, writeStored } from '../../app/storage.js';
import { findOpenItem, waiting } from '../../data/waiting.js';
import { RepairLevel, StateBadge } from '../../ui/badge.js';
import { formatCost, formatDuration, formatShort, formatUsage, Timestamp, toOneLine } from '../../ui/format.js';
import { SafeText } from '../../ui/safe-text.js';
import { WaitingFor } from '../../ui/waiting-for.js';

/** Lists the columns of the table: state and prompt, which links to the run, and the chosen optional columns. */
export function listColumns(): readonly Column<RunSummary>[] {
  return [
    { name: 'State', width: '8.5rem', cell: (run) => <RunState run={run} /> },
    { name: 'Prompt', class: 'wide', cell: (run) => <Prompt run={run} /> },
    ...columns.value.map((name) => ({ name, ...OPTIONAL[name] })),
  ];
}

function RunState({ run }: Readonly<{ run: RunSummary }>) {
  const { state, isLive } = describeRun(run, Date.now(), findOpenItem(waiting.value, run.id) !== undefined);
  return <StateBadge state={state} isLive={isLive} />;
}

function Prompt({ run }: Readonly<{ run: RunSummary }>) {
  const { title, failure } = describeRun(run, Date.now());
  return (
    <>
      <a {...ROW} class="clip" href={toPath({ page: 'run', id: run.id })}>
        <SafeText text={title} />
      </a>
      {run.order === null ? null : (
        <span class="below">
          For <a href={toPath({ page: 'issues', ref: run.order.issue_ref })}>{run.order.issue_ref}</a>
          {run.spec.program === undefined ? null : ', '}
          <SafeText text={run.spec.program ?? ''} />
        </span>
      )}
      {run.waiting_for === null ? null : (
        <span class="below">
          <WaitingFor waiting={run.waiting_for} />
        </span>
      )}
      {failure === null ? null : (
        <span class="below clip">
          {failure.code}: <SafeText text={failure.message} />
        </span>
      )}
    </>
  );
}

const OPTIONAL = {
  Engine: {
    width: '7.5rem',
    class: 'nowrap',
    cell: ({ engine, spec }) => (
      <>
        {engine}
        {spec.model === undefined ? null : <SafeText as="span" class="below" text={spec.model} />}
      </>
    ),
  },
  Repair: {
    width: '7rem',
    cell: ({ result }) =>
      result?.status === 'success' ? (
        <RepairLevel level={result.repair_level} kinds={result.repair_kinds ?? []} />
      ) : null,
  },
  Tokens: {
    width: '6rem',
    isNumber: true,
    cell: ({ result }) =>
      result?.usage === undefined ? null : (
        <span title={formatUsage(result.usage)}>
          {formatShort(result.usage.input_tokens + result.usage.output_tokens)}
        </span>
      ),
  },
  Cost: {
    width: '5.5rem',
    isNumber: true,
    cell: ({ result }) =>
      result?.usage === undefined
        ? ''
        : formatCost(result.usage.cost ?? 0, { isComplete: result.usage.cost !== undefined }),
  },
  Folder: {
    width: '12rem',
    cell: ({ spec }) => <SafeText as="span" class="clip small" text={spec.workdir ?? ''} limit={200} />,
  },
  Created: { width: '9.5rem', class: 'nowrap', cell: ({ created_at }) => <Timestamp at={created_at} /> },
  Duration: {
    width: '7rem',
    isNumber: true,
    cell: (run) => {
      const { durationMs } = describeRun(run, Date.now());
      return durationMs === null ? '' : formatDuration(durationMs);
    },
  },
} satisfies Record<string, Omit<Column<RunSummary>, 'name'>>;

type OptionalColumn = keyof typeof OPTIONAL;

/** Optional columns in the list of runs, in table order. */
export const OPTIONAL_COLUMNS = Object.keys(OPTIONAL) as readonly OptionalColumn[];

const COLUMNS_KEY = 'sluice.columns';

/** The visible optional columns; by default all except the folder. */
export const columns = signal(readColumns(readStored(COLUMNS_KEY)));

/** Reads a stored choice; unknown columns are skipped. */
export function readColumns(stored: string | null): readonly OptionalColumn[] {
  const names = stored?.split(',');
  return OPTIONAL_COLUMNS.filter((column) => names?.includes(column) ?? column !== 'Folder');
}

/** Shows or hides a column in this browser. */
export function toggleColumn(column: OptionalColumn): void {
  columns.value = OPTIONAL_COLUMNS.filter((name) => columns.value.includes(name) !== (name === column));
  writeStored(COLUMNS_KEY, columns.value.join(','));
}

/** Summarizes the listed runs. */
export function describeTotals(runs: readonly RunSummary[]): string {
  const outcomes = new Map<string, number>();
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
    [...outcomes].map(([outcome, count]) => `${count} ${OUTCOME_LABELS.get(outcome) ?? outcome}`).join(', '),
    ...(tokens === 0 ? [] : [`${formatShort(tokens)} tokens`]),
    ...(cost === 0 ? [] : [formatCost(cost, { isComplete })]),
  ].join(' · ');
}

const OUTCOME_LABELS = new Map([
  ['success', 'succeeded'],
  ['comment', 'with a comment'],
]);

interface RunRow {
  readonly state: string;
  readonly isLive: boolean;
  readonly title: string;
  readonly failure: Readonly<{ code: string; message: string }> | null;
  readonly durationMs: number | null;
}

/** Describes a run for the list. `needsPerson`: an inbox item about it is open. */
export function describeRun(
  { state, spec, order, result, started_at, ended_at, cancel_requested }: RunSummary,
  now: number,
  needsDecision = false,
): RunRow {
  const isLive = state === 'running';
  return {
    state: cancel_requested && isLive ? 'canceling' : needsDecision ? 'needs-human' : (result?.status ?? state),
    isLive,
    title: chooseTitle(spec, order),
    failure: result?.error === undefined ? null : { code: result.error.code, message: toOneLine(result.error.message) },
    // The duration would be negative if the local clock is slightly behind the server's.
    durationMs:
      started_at === null
        ? null
        : Math.max(0, (ended_at === null ? now : Date.parse(ended_at)) - Date.parse(started_at)),
  };
}

function chooseTitle({ prompt = '', program = 'No prompt' }: RunSummary['spec'], order: RunSummary['order']): string {
  const text = toOneLine(prompt);
  if (text !== '') return text;
  return order === null ? program : `Order ${order.run_id}`;
}
