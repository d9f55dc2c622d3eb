import type { RunView } from '../../../src/server/api/index.js';
import { toPath } from '../../app/route.js';
import { Badge, StateBadge, RepairLevel } from '../../ui/badge.js';
import { RunExports, describeMissingFiles } from '../../ui/run-files.js';
import { SafeText } from '../../ui/safe-text.js';
import { formatDuration, formatUsage, toOneLine } from '../../ui/format.js';
import { WaitingFor } from '../../ui/waiting-for.js';
import { useSignal } from '@preact/signals';
import { hasScope } from '../../app/session.js';
import { client, newRequestId } from '../../data/client.js';
import { findOpenItem, waiting } from '../../data/waiting.js';
import { navigate } from '../../app/router.js';
import { useAction, useResource, type Resource } from '../../data/resource.js';
import { Refused } from '../../ui/notice.js';
import { Button, Link } from '../../ui/button.js';
import { AnsiText } from '../../ui/ansi-text.js';
import { describeItem, type ItemView } from './conversation.js';
import type { OpenRun } from './open-run.js';
import { findLastStderr } from './raw-rows.js';

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

/** The number of bytes shown from the end of stderr, which usually contains the reason for a failure. */
const STDERR_BYTES = 4000;
/** The number of trailing items searched for a failed tool. */
const MAX_SEARCHED_ITEMS = 500;

/** Explains why a run failed: the cause, what to do, the last failed tool and the end of stderr. */
export function FailureCard(props: Readonly<{ run: OpenRun; view: RunView; stderr: Resource<string> }>) {
  const { run, view, stderr } = props;
  const error = view.result?.error;
  if (view.result?.status !== 'failed' || error === undefined) return null;
  return (
    <section class="card failure" aria-label="Failure">
      <p class="failure-cause">
        <Badge tone="bad">{error.code}</Badge> <SafeText text={error.message} limit={1000} />
      </p>
      <p>
        <strong>What to do:</strong> {chooseAdvice(error, view.spec.max_retries ?? 0)}
      </p>
      <div class="failure-facts">
        <FailedTool run={run} />
        <LastStderr stderr={stderr} />
      </div>
    </section>
  );
}

/** Returns advice on a failure: by cause or code if more specific, otherwise by category. */
export function chooseAdvice({ cause = 'unknown', code, category }: RunError, retries = 0): string {
  if (code === 'OUTPUT_NOT_VALIDATED' && retries > 0) return RETRIES_USED_UP;
  return BY_CAUSE[cause] ?? BY_CODE[code] ?? BY_CATEGORY[category];
}

type RunError = NonNullable<NonNullable<RunView['result']>['error']>;

const BY_CAUSE: Readonly<Record<NonNullable<RunError['cause']>, string | null>> = {
  auth: 'Sign in to the engine on the server, or pass its key as an environment variable, then run again.',
  rate_limit: 'Wait until the provider’s rate limit resets, then run again.',
  quota: 'The provider account has no quota left. Add quota, or choose another model with Edit and run.',
  model: 'The model refused the request. Choose another model with Edit and run.',
  server: 'The model’s service failed. Run again later, or choose another model with Edit and run.',
  context: 'The request was too long for the model. Shorten the prompt, or choose another model with Edit and run.',
  network: 'Check the server’s network, then run again.',
  permission: 'Allow more permissions with Edit and run, or change the task.',
  unknown: null,
};

const RETRIES_USED_UP =
  'All retries were used. Compare the answers under Attempts, then correct the prompt or relax the schema with Edit and run.';

const BY_CODE: Readonly<Record<string, string>> = {
  OUTPUT_NOT_VALIDATED:
    'Compare the answer with the schema under Result. Then correct the prompt, relax the schema, or allow retries with Edit and run.',
  PROCESS_NOT_STARTED:
    'Install the engine on the server, or set its path in the configuration. The command sluice doctor checks it.',
  PROCESS_SIGNALED: 'Check what stopped the process; a memory limit is the usual cause. Then run again.',
  RUN_TIMED_OUT: 'Raise the time limit with Edit and run, or make the task smaller.',
  SANDBOX_UNAVAILABLE: 'Install bubblewrap on the server, or use Edit and run to allow the run without a sandbox.',
  WORKER_GONE: 'Find out on that host why the worker exited; the Workers page lists live workers. Then run again.',
  SESSION_LOST: 'Start a new run whose prompt contains the question and its answer.',
};

const BY_CATEGORY: Readonly<Record<RunError['category'], string>> = {
  canceled: 'Run again if it was canceled by mistake.',
  output:
    'Compare the answer with the contract under Result, then correct the prompt or the contract with Edit and run.',
  limit: 'Raise the limit named in the message with Edit and run, or make the task smaller.',
  timeout: 'Raise the time limit with Edit and run, or make the task smaller.',
  process: 'Read the end of stderr. If the problem is temporary, run again.',
  engine: 'Read the engine’s message. If the problem is temporary, run again.',
};

/** The last failed tool call. The line is always shown, because events arrive after the page was drawn. */
function FailedTool({ run }: Readonly<{ run: OpenRun }>) {
  void run.redraws.page.value;
  const tool = findFailedTool(run.data.conversation);
  return (
    <p class="failure-tool one-line">
      <strong>Last failed tool:</strong>{' '}
      {tool === null ? (
        <span class="dim">None</span>
      ) : (
        <button
          type="button"
          class="link"
          onClick={() => (run.selection.value = { pane: 'conversation', seq: tool.seq })}
        >
          <SafeText text={`${tool.name}: ${tool.error ?? 'Failed'}`.slice(0, 200)} />
        </button>
      )}
    </p>
  );
}

/** Searches the end of a conversation for a failed tool call. */
export function findFailedTool(
  conversation: OpenRun['data']['conversation'],
): Extract<ItemView, { kind: 'tool' }> | null {
  const { items, events } = conversation;
  const firstIndex = Math.max(0, items.length - MAX_SEARCHED_ITEMS);
  for (let index = items.length - 1; index >= firstIndex; index -= 1) {
    const item = items[index];
    if (item?.type !== 'assistant.tool_call') continue;
    const view = describeItem(conversation, item, events.length);
    if (view?.kind === 'tool' && view.status === 'failed') return view;
  }
  return null;
}

/** Loads the end of a run's stderr; null loads nothing. Unavailable files are an error, an empty stderr is not. */
export function useLastStderr(id: string | null): Resource<string> {
  return useResource(`stderr ${id ?? ''}`, async (signal) => {
    if (id === null) return '';
    const files = await client.listRunFiles({ id, signal });
    if (files.source === null) throw new Error(describeMissingFiles(files));
    const file = findLastStderr(files.evidence);
    if (file === null) return '';
    const from = Math.max(0, file.size - STDERR_BYTES);
    const { text } = await client.readEvidence({ id, name: file.name, from, signal });
    // The first line is dropped, because it can start in the middle of a character.
    return (from === 0 ? text : text.slice(text.indexOf('\n') + 1)).trimEnd();
  });
}

function LastStderr({ stderr: { value, failure } }: { readonly stderr: Resource<string> }) {
  if (value === null || value === '') {
    return (
      <p>
        <strong>End of stderr:</strong>{' '}
        <span class="dim">{failure?.message ?? (value === null ? 'Loading …' : 'Empty')}</span>
      </p>
    );
  }
  return (
    <details open>
      <summary>End of stderr</summary>
      <pre class="failure-stderr" tabIndex={0} aria-label="End of stderr">
        <AnsiText text={value} limit={STDERR_BYTES} />
      </pre>
    </details>
  );
}
