import type { RefObject } from 'preact';
import type { RunSummary } from '../../../src/api/index.js';
import { pathOf } from '../../app/route.js';
import { Badge, toneOf } from '../../ui/badge.js';
import { RepairLevel } from '../../ui/repair-level.js';
import { RowTable } from '../../ui/row-table.js';
import type { Column } from '../../ui/row-table.js';
import { SafeText } from '../../ui/safe-text.js';
import { lengthOf, Moment } from '../../ui/time.js';
import { ROW } from '../../ui/use-row-keys.js';

const COLUMNS: readonly Column[] = [
  { name: 'State', width: '7.5rem' },
  { name: 'Prompt' },
  { name: 'Engine', width: '7rem' },
  { name: 'Answer', width: '7rem' },
  { name: 'Asked', width: '9rem' },
  { name: 'Took', width: '7rem', isNumber: true },
];

/** Runs, one a row; the prompt leads to the run. */
export function RunTable({
  runs,
  list,
}: {
  readonly runs: readonly RunSummary[];
  readonly list: RefObject<HTMLTableElement>;
}) {
  const now = Date.now();
  return (
    <RowTable columns={COLUMNS} list={list}>
      {runs.map((run) => (
        <Row key={run.id} run={run} now={now} />
      ))}
    </RowTable>
  );
}

function Row({ run, now }: { readonly run: RunSummary; readonly now: number }) {
  const { state, isLive, title, failure, tookMs } = rowOf(run, now);
  return (
    <tr>
      <td>
        <Badge tone={toneOf(state)} isLive={isLive}>
          {state}
        </Badge>
      </td>
      <td class="wide">
        <a {...ROW} class="clip" href={pathOf({ page: 'run', id: run.id })}>
          <SafeText text={title} />
        </a>
        {run.order === null ? null : (
          <span class="below">
            for <a href={pathOf({ page: 'issues', ref: run.order.issue_ref })}>{run.order.issue_ref}</a>
            {run.spec.program === undefined ? null : ', '}
            <SafeText text={run.spec.program ?? ''} />
          </span>
        )}
        {failure === null ? null : (
          <span class="below clip">
            {failure.code}: <SafeText text={failure.message} />
          </span>
        )}
      </td>
      <td class="nowrap">
        {run.engine}
        {run.spec.model === undefined ? null : (
          <span class="below">
            <SafeText text={run.spec.model} />
          </span>
        )}
      </td>
      <td>
        {run.result === null || run.result.status !== 'success' ? null : (
          <RepairLevel level={run.result.repair_level} />
        )}
      </td>
      <td class="nowrap">
        <Moment at={run.created_at} />
      </td>
      <td class="number">{tookMs === null ? '' : lengthOf(tookMs)}</td>
    </tr>
  );
}

/** What a row says of a run. */
interface RunRow {
  /** How far it is, or what came of it. */
  readonly state: string;
  readonly isLive: boolean;
  /** What was asked, on one line. */
  readonly title: string;
  /** Why it failed. */
  readonly failure: { readonly code: string; readonly message: string } | null;
  readonly tookMs: number | null;
}

/** A run as the list shows it at a moment. */
export function rowOf(
  { state, spec, order, result, started_at, ended_at, cancel_requested }: RunSummary,
  now: number,
): RunRow {
  const isLive = state === 'running';
  return {
    state: cancel_requested && isLive ? 'canceling' : (result?.status ?? state),
    isLive,
    title: titleOf(spec, order),
    failure: result?.error === undefined ? null : { code: result.error.code, message: oneLine(result.error.message) },
    // A clock that runs a little behind that of the server must not show a time before the beginning.
    tookMs:
      started_at === null
        ? null
        : Math.max(0, (ended_at === null ? now : Date.parse(ended_at)) - Date.parse(started_at)),
  };
}

/** What was asked; a worker that is no agent has an order instead of a prompt. */
function titleOf({ prompt = '', program = 'no prompt' }: RunSummary['spec'], order: RunSummary['order']): string {
  const asked = oneLine(prompt);
  if (asked !== '') return asked;
  return order === null ? program : `Order ${order.run_id}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
