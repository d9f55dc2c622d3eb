import type { RunView } from '../../../src/api/index.js';
import { pathOf } from '../../app/route.js';
import { Badge, toneOf } from '../../ui/badge.js';
import { RepairLevel } from '../../ui/repair-level.js';
import { SafeText } from '../../ui/safe-text.js';
import { lengthOf } from '../../ui/time.js';
import { usageText } from '../../ui/amount.js';
import { useSignal } from '@preact/signals';
import { may } from '../../app/session.js';
import { client } from '../../server/client.js';
import { asFailure } from '../../server/use-resource.js';

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

/** Ends a run, after asking whether that is meant. */
function CancelRun({ run, onChange }: { readonly run: RunView; readonly onChange: () => void }) {
  const isAsked = useSignal(false);
  const refusal = useSignal<string | null>(null);
  if (run.state === 'ended' || !may('run')) return null;
  if (run.cancel_requested) return <span class="dim">asked to end …</span>;
  const cancel = async (): Promise<void> => {
    try {
      await client.cancelRun({ id: run.id });
      refusal.value = null;
      isAsked.value = false;
    } catch (error) {
      refusal.value = asFailure(error).message;
    }
    onChange();
  };
  if (!isAsked.value) {
    return (
      <button type="button" onClick={() => (isAsked.value = true)}>
        Cancel run
      </button>
    );
  }
  return (
    <span class="row" role="group" aria-label="Cancel the run">
      <span>{refusal.value ?? 'The run ends as canceled.'}</span>
      <button type="button" class="danger" onClick={() => void cancel()}>
        Stop it
      </button>
      <button type="button" onClick={() => (isAsked.value = false)}>
        Keep it
      </button>
    </span>
  );
}
