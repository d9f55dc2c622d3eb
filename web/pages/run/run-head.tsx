import type { RunView } from '../../../src/api/index.js';
import { pathOf } from '../../app/route.js';
import { Badge } from '../../ui/badge.js';
import { RepairLevel } from '../../ui/repair-level.js';
import { SafeText } from '../../ui/safe-text.js';
import { toneOf } from '../../ui/state-tone.js';
import { lengthOf } from '../../ui/time.js';
import { CancelRun } from './cancel-run.js';
import { usageText } from './usage-text.js';

/** What a run is and how it stands, in two lines. */
export function RunHead({ run, onChange }: { readonly run: RunView; readonly onChange: () => void }) {
  const { id, engine, state, result, order, started_at, ended_at } = run;
  const usage = usageText(result?.usage);
  return (
    <header class="page-head run-head">
      <h1>
        <a href="/runs">Runs</a> / <code>{id}</code>
      </h1>
      <Badge>{engine}</Badge>
      <Badge tone={toneOf(state)} isLive={state === 'running'}>
        {state}
      </Badge>
      {result === null ? null : <Badge tone={toneOf(result.status)}>{result.status}</Badge>}
      {result?.status === 'success' ? <RepairLevel level={result.repair_level} /> : null}
      <span class="dim">{durationText(started_at, ended_at)}</span>
      {usage === '' ? null : <span class="dim">{usage}</span>}
      {result !== null && result.attempts > 1 ? <span class="dim">{result.attempts} attempts</span> : null}
      {order === null ? null : (
        <a href={pathOf({ page: 'issues', ref: order.issue_ref })}>
          <SafeText text={order.issue_ref} limit={80} />
        </a>
      )}
      <span class="end row">
        <CancelRun run={run} onChange={onChange} />
        <a class="button" href={`/v1/runs/${encodeURIComponent(id)}/export`} download>
          Export
        </a>
      </span>
    </header>
  );
}

function durationText(startedAt: string | null, endedAt: string | null): string {
  if (startedAt === null) return 'not started yet';
  const end = endedAt === null ? Date.now() : Date.parse(endedAt);
  return lengthOf(Math.max(0, end - Date.parse(startedAt)));
}
