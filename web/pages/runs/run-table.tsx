import type { RefObject } from 'preact';
import type { RunSummary } from '../../../src/api/index.js';
import { toPath } from '../../app/route.js';
import { findOpenItem, waiting } from '../../server/waiting.js';
import { formatMoney, formatShort, formatUsage } from '../../ui/amount.js';
import { StateBadge } from '../../ui/badge.js';
import { RepairLevel } from '../../ui/repair-level.js';
import { RowTable } from '../../ui/row-table.js';
import type { Column } from '../../ui/row-table.js';
import { SafeText } from '../../ui/safe-text.js';
import { formatDuration, Timestamp } from '../../ui/time.js';
import { WaitingFor } from '../../ui/waiting-for.js';
import { ROW } from '../../ui/use-row-keys.js';
import { columns } from './run-columns.js';
import type { OptionalColumn } from './run-columns.js';

const FIXED: readonly Column[] = [{ name: 'State', width: '8.5rem' }, { name: 'Prompt' }];

const OPTIONAL: Readonly<Record<OptionalColumn, Omit<Column, 'name'>>> = {
  Engine: { width: '7.5rem' },
  Repair: { width: '7rem' },
  Tokens: { width: '6rem', isNumber: true },
  Cost: { width: '5.5rem', isNumber: true },
  Folder: { width: '12rem' },
  Created: { width: '9.5rem' },
  Duration: { width: '7rem', isNumber: true },
};

/** The table of runs; each prompt links to its run. */
export function RunTable({
  runs,
  list,
}: {
  readonly runs: readonly RunSummary[];
  readonly list: RefObject<HTMLTableElement>;
}) {
  const now = Date.now();
  return (
    <RowTable columns={[...FIXED, ...columns.value.map((name) => ({ name, ...OPTIONAL[name] }))]} list={list}>
      {runs.map((run) => (
        <Row key={run.id} run={run} now={now} needsDecision={findOpenItem(waiting.value, run.id) !== undefined} />
      ))}
    </RowTable>
  );
}

function Row({
  run,
  now,
  needsDecision,
}: {
  readonly run: RunSummary;
  readonly now: number;
  readonly needsDecision: boolean;
}) {
  const { state, isLive, title, failure, durationMs } = describeRun(run, now, needsDecision);
  return (
    <tr>
      <td>
        <StateBadge state={state} isLive={isLive} />
      </td>
      <td class="wide">
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
      </td>
      {columns.value.map((column) => (
        <Cell key={column} column={column} run={run} durationMs={durationMs} />
      ))}
    </tr>
  );
}

/** The content of an optional column. */
function Cell({
  column,
  run,
  durationMs,
}: {
  readonly column: OptionalColumn;
  readonly run: RunSummary;
  readonly durationMs: number | null;
}) {
  const { usage } = run.result ?? {};
  switch (column) {
    case 'Engine':
      return (
        <td class="nowrap">
          {run.engine}
          {run.spec.model === undefined ? null : (
            <span class="below">
              <SafeText text={run.spec.model} />
            </span>
          )}
        </td>
      );
    case 'Repair':
      return (
        <td class={run.result?.repair_level === 'none' ? 'plain' : ''}>
          {run.result === null || run.result.status !== 'success' ? null : (
            <RepairLevel level={run.result.repair_level} kinds={run.result.repair_kinds ?? []} />
          )}
        </td>
      );
    case 'Tokens':
      return (
        <td class="number" title={formatUsage(usage)}>
          {usage === undefined ? '' : formatShort(usage.input_tokens + usage.output_tokens)}
        </td>
      );
    case 'Cost':
      return <td class="number">{usage?.cost === undefined ? '' : formatMoney(usage.cost)}</td>;
    case 'Folder':
      return (
        <td>
          <span class="clip small">
            <SafeText text={run.spec.workdir ?? ''} limit={200} />
          </span>
        </td>
      );
    case 'Created':
      return (
        <td class="nowrap">
          <Timestamp at={run.created_at} />
        </td>
      );
    case 'Duration':
      return <td class="number">{durationMs === null ? '' : formatDuration(durationMs)}</td>;
  }
}

/**
 * Summarizes the listed runs.
 *
 * @example
 * describeTotals(runs) // '38 succeeded, 4 failed · 1.2M tokens · $3.40'
 */
export function describeTotals(runs: readonly RunSummary[]): string {
  const outcomes = new Map<string, number>();
  let tokens = 0;
  let cost = 0;
  for (const { state, result } of runs) {
    const outcome = result?.status ?? state;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    tokens += (result?.usage?.input_tokens ?? 0) + (result?.usage?.output_tokens ?? 0);
    cost += result?.usage?.cost ?? 0;
  }
  return [
    [...outcomes].map(([outcome, count]) => `${count} ${OUTCOME_LABELS.get(outcome) ?? outcome}`).join(', '),
    ...(tokens === 0 ? [] : [`${formatShort(tokens)} tokens`]),
    ...(cost === 0 ? [] : [formatMoney(cost)]),
  ].join(' · ');
}

const OUTCOME_LABELS = new Map([
  ['success', 'succeeded'],
  ['comment', 'with a comment'],
]);

/** The data of a run's row. */
interface RunRow {
  /** The state of the run; once it has ended, its outcome. */
  readonly state: string;
  readonly isLive: boolean;
  /** The task, on one line. */
  readonly title: string;
  /** Why it failed. */
  readonly failure: { readonly code: string; readonly message: string } | null;
  readonly durationMs: number | null;
}

/** The state of a successful run whose order still needs a user's decision. */
const NEEDS_DECISION = 'needs-human';

/** Describes a run for the list. `needsPerson`: an inbox item about it is open. */
export function describeRun(
  { state, spec, order, result, started_at, ended_at, cancel_requested }: RunSummary,
  now: number,
  needsDecision = false,
): RunRow {
  const isLive = state === 'running';
  return {
    state: cancel_requested && isLive ? 'canceling' : needsDecision ? NEEDS_DECISION : (result?.status ?? state),
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

/** Chooses the title: the prompt or, for a plain command, its order. */
function chooseTitle({ prompt = '', program = 'No prompt' }: RunSummary['spec'], order: RunSummary['order']): string {
  const text = toOneLine(prompt);
  if (text !== '') return text;
  return order === null ? program : `Order ${order.run_id}`;
}

function toOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
