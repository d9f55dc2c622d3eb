import type { RunView } from '../../../src/server/api/index.js';
import { toPath } from '../../app/route.js';
import { Badge, StateBadge, RepairLevel } from '../../ui/badge.js';
import { RunExports } from '../../ui/run-files.js';
import { SafeText } from '../../ui/safe-text.js';
import { formatDuration, formatUsage, toOneLine } from '../../ui/format.js';
import { WaitingFor } from '../../ui/waiting-for.js';
import { useSignal } from '@preact/signals';
import { hasScope } from '../../app/session.js';
import { client, newRequestId } from '../../data/client.js';
import { findOpenItem, waiting } from '../../data/waiting.js';
import { navigate } from '../../app/router.js';
import { useAction } from '../../data/resource.js';
import { Refused } from '../../ui/notice.js';
import { Button, Link } from '../../ui/button.js';

/** The page header: the run's task and actions and, below them, its state. */
export function RunHead({ run, onChange }: Readonly<{ run: RunView; onChange: () => void }>) {
  const { id, engine, state, result, order, started_at, ended_at } = run;
  const usage = formatUsage(result?.usage);
  const review = findOpenItem(waiting.value, id);
  return (
    <header class="run-head">
      <div class="run-title">
        <h1>
          <a href="/runs">Runs</a> / <SafeText text={describeTask(run)} limit={200} />
        </h1>
        <span class="end row run-actions">
          <CancelRun run={run} onChange={onChange} />
          <RunAgain run={run} />
          <Link label="Export" class="button" href={`/v1/runs/${encodeURIComponent(id)}/export`} download />
          <RunExports id={id} hasEnded={run.state === 'ended'} />
        </span>
      </div>
      <div class="row run-facts">
        {result === null ? (
          <StateBadge state={state} isLive={state === 'running'} />
        ) : (
          <Outcome status={result.status} review={review} />
        )}
        {result?.status === 'success' ? (
          <RepairLevel level={result.repair_level} kinds={(result.repairs ?? []).map(({ kind }) => kind)} />
        ) : null}
        <Badge>{engine}</Badge>
        <WaitingFor waiting={run.waiting_for} />
        <span class="dim">{formatRunDuration(started_at, ended_at)}</span>
        {usage === '' ? null : <span class="dim">{usage}</span>}
        {result !== null && result.attempts > 1 ? <span class="dim">{result.attempts} attempts</span> : null}
        {order === null ? null : (
          <a href={toPath({ page: 'issues', ref: order.issue_ref })}>
            <SafeText text={order.issue_ref} limit={80} />
          </a>
        )}
        <code class="dim">{id}</code>
      </div>
    </header>
  );
}

/** Describes the task on one line; for a plain command, the command line. */
function describeTask({ spec, order }: RunView): string {
  const prompt = toOneLine(spec.prompt ?? '');
  if (prompt !== '') return prompt;
  return order === null ? (spec.command ?? []).join(' ') : `Order ${order.run_id}`;
}

function formatRunDuration(startedAt: string | null, endedAt: string | null): string {
  if (startedAt === null) return 'Not started yet';
  const end = endedAt === null ? Date.now() : Date.parse(endedAt);
  return formatDuration(Math.max(0, end - Date.parse(startedAt)));
}

/** A button that cancels a run after a confirmation. */
function CancelRun({ run, onChange }: Readonly<{ run: RunView; onChange: () => void }>) {
  const isConfirming = useSignal(false);
  const cancellation = useAction(async () => {
    await client.cancelRun({ id: run.id }).finally(onChange);
    isConfirming.value = false;
  });
  if (run.state === 'ended' || !hasScope('run')) return null;
  if (run.cancel_requested) return <span class="dim">Canceling …</span>;
  if (!isConfirming.value) return <Button label="Cancel run" onClick={() => (isConfirming.value = true)} />;
  return (
    <span class="row" role="group" aria-label="Cancel the run">
      <span>{cancellation.failure ?? 'Cancel this run?'}</span>
      <Button label="Yes, cancel" class="danger" onClick={cancellation.run} />
      <Button label="Keep running" onClick={() => (isConfirming.value = false)} />
    </span>
  );
}

/** The outcome of a run. A result that still needs a user's decision is not shown as a success. */
function Outcome(props: { readonly status: string; readonly review: { readonly id: string } | undefined }) {
  const { status, review } = props;
  if (review === undefined) return <StateBadge state={status} />;
  return (
    <>
      <StateBadge state="needs-human" />
      <a href={toPath({ page: 'inbox', id: review.id })}>Decide in the inbox</a>
    </>
  );
}

/** Buttons that start the same run again or open the form with its values; for an order, a link to its form. */
function RunAgain({ run }: Readonly<{ run: RunView }>) {
  const requestId = useSignal(newRequestId());
  const start = useAction(async () => {
    // Every click sends the same request id, so a lost response does not lead to a second run.
    const { id } = await client.startRun({ body: { ...run.spec, request_id: requestId.value } });
    navigate(toPath({ page: 'run', id }));
  });
  const isStarting = start.isBusy || start.isDone;
  if (run.state !== 'ended' || !hasScope('run')) return null;
  if (run.order !== null) {
    return (
      <a class="button" href={`${toPath({ page: 'issues', ref: run.order.issue_ref })}?order`}>
        Submit order again
      </a>
    );
  }
  return (
    <>
      <Refused why={start.failure} />
      <Button label={isStarting ? 'Starting …' : 'Run again'} disabled={isStarting} onClick={start.run} />
      <Link label="Edit and run" class="button" href={`/runs?start&from=${encodeURIComponent(run.id)}`} />
    </>
  );
}
