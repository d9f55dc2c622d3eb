import type { ComponentChildren } from 'preact';
import type { RunView } from '../../../src/server/api/index.js';
import { toPath } from '../../app/route.js';
import { Badge, StateBadge, RepairLevel, WaitingFor, Refused, Button, Link } from '../../ui/parts.js';
import { RunExports, describeMissingFiles } from '../../ui/facts.js';
import { SafeText, formatDuration, formatUsage } from '../../ui/text.js';
import { useSignal } from '@preact/signals';
import { hasScope } from '../../app/session.js';
import { client } from '../../data/client.js';
import { newRequestId } from '../../ui/form.js';
import { findOpenItem, waiting } from '../../data/waiting.js';
import { navigate } from '../../app/router.js';
import { useAction, useResource, type Resource } from '../../data/resource.js';
import { AnsiText } from '../../ui/ansi-text.js';
import { describeItem, type ItemView } from './conversation.js';
import type { OpenRun } from './open-run.js';
import { findLastStderr } from './raw-bytes.js';
import { t } from './texts.js';

/** The page header: the run's task, two actions and a menu and, below them, its state. */
export function RunHead(props: Readonly<{ run: RunView; onChange: () => void; connection: ComponentChildren }>) {
  const { run, onChange, connection } = props;
  const { id, engine, state, result, order, started_at, ended_at } = run;
  const usage = formatUsage(result?.usage);
  const review = findOpenItem(waiting.value, id);
  return (
    <header class="run-head">
      <div class="run-title">
        <h1 class="one-line">
          <a href="/runs">{t.pages.runs}</a> / <SafeText text={run.title ?? id} limit={200} />
        </h1>
        <span class="end row run-actions">
          {review === undefined ? null : (
            <Link label={t.decideInTheInbox} class="button primary" href={toPath({ page: 'inbox', id: review.id })} />
          )}
          <CancelRun run={run} onChange={onChange} />
          <RunAgain run={run} isPrimary={review === undefined} />
          <details
            class="menu"
            onKeyDown={({ key, currentTarget }) => {
              if (key === 'Escape') currentTarget.open = false;
            }}
          >
            <summary class="button">{t.more}</summary>
            <div class="menu-list popup">
              <Link label={t.export} class="button" href={`/v1/runs/${encodeURIComponent(id)}/export`} download />
              <RunExports id={id} hasEnded={state === 'ended'} />
            </div>
          </details>
        </span>
      </div>
      <div class="row run-facts">
        {result === null ? (
          <StateBadge state={state} isLive={state === 'running'} />
        ) : (
          <StateBadge state={review === undefined ? result.status : 'needs-human'} />
        )}
        {result?.status === 'success' ? (
          <RepairLevel level={result.repair_level} kinds={(result.repairs ?? []).map(({ kind }) => kind)} />
        ) : null}
        <Badge>{engine}</Badge>
        <WaitingFor waiting={run.waiting_for} />
        <span class="dim">{formatRunDuration(started_at, ended_at)}</span>
        {usage === '' ? null : <span class="dim">{usage}</span>}
        {order === null ? null : (
          <a href={toPath({ page: 'issues', ref: order.issue_ref })}>
            <SafeText text={order.issue_ref} limit={80} />
          </a>
        )}
        <code class="dim">{id}</code>
        <span class="end">{connection}</span>
      </div>
    </header>
  );
}

function formatRunDuration(startedAt: string | null, endedAt: string | null): string {
  if (startedAt === null) return t.notStartedYet;
  const end = endedAt === null ? Date.now() : Date.parse(endedAt);
  return formatDuration(Math.max(0, end - Date.parse(startedAt)));
}

function CancelRun({ run, onChange }: Readonly<{ run: RunView; onChange: () => void }>) {
  const cancellation = useAction(async () => {
    await client.cancelRun({ id: run.id }).finally(onChange);
  });
  if (run.state === 'ended' || !hasScope('run')) return null;
  if (run.cancel_requested) return <span class="dim">{t.states.canceling}</span>;
  return (
    <>
      <Refused why={cancellation.failure} />
      <Button label={t.cancelRun} disabled={cancellation.isBusy} onClick={cancellation.run} />
    </>
  );
}

/** Buttons that start the same run again or open the form with its values; for an order, a link to its form. */
function RunAgain({ run, isPrimary }: Readonly<{ run: RunView; isPrimary: boolean }>) {
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
      <Link
        label={t.submitOrderAgain}
        class="button"
        href={`${toPath({ page: 'issues', ref: run.order.issue_ref })}?order`}
      />
    );
  }
  return (
    <>
      <Refused why={start.failure} />
      <Button
        label={isStarting ? t.starting : t.runAgain}
        class={isPrimary ? 'primary' : ''}
        disabled={isStarting}
        onClick={start.run}
      />
      <Link label={t.editAndRun} class="button" href={`/runs?start&from=${encodeURIComponent(run.id)}`} />
    </>
  );
}

/** The number of bytes shown from the end of stderr, which usually contains the reason for a failure. */
const STDERR_BYTES = 4000;
const MAX_SEARCHED_ITEMS = 500;

/** Explains why a run failed: the cause, what to do, the last failed tool and the end of stderr. */
export function FailureCard(props: Readonly<{ run: OpenRun; view: RunView; stderr: Resource<string> }>) {
  const { run, view, stderr } = props;
  const error = view.result?.error;
  if (view.result?.status !== 'failed' || error === undefined) return null;
  return (
    <section class="card failure" aria-label={t.failure}>
      <p class="failure-cause">
        <Badge tone="bad">{error.code}</Badge> <SafeText text={error.message} limit={1000} />
      </p>
      <p>
        <strong>{t.whatToDo}</strong> {chooseAdvice(error, view.spec.max_retries ?? 0)}
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
  if (code === 'OUTPUT_NOT_VALIDATED' && retries > 0) return t.allRetriesWereUsedCompare;
  return ADVICE[cause] ?? ADVICE[code] ?? t.adviceByCategory[category];
}

type RunError = NonNullable<NonNullable<RunView['result']>['error']>;

const ADVICE: Readonly<Record<string, string | undefined>> = { ...t.adviceByCode, ...t.adviceByCause };

/** The last failed tool call. The line is always shown, because events arrive after the page was drawn. */
function FailedTool({ run }: Readonly<{ run: OpenRun }>) {
  void run.redraws.page.value;
  const tool = findFailedTool(run.data.conversation);
  return (
    <p class="failure-tool one-line">
      <strong>{t.lastFailedTool}</strong>{' '}
      {tool === null ? (
        <span class="dim">{t.none}</span>
      ) : (
        <button
          type="button"
          class="link"
          onClick={() => (run.selection.value = { pane: 'conversation', seq: tool.seq })}
        >
          <SafeText text={`${tool.name}: ${tool.error ?? t.states.failed}`.slice(0, 200)} />
        </button>
      )}
    </p>
  );
}

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
        <strong>{t.endOfStderr}</strong>{' '}
        <span class="dim">{failure?.message ?? (value === null ? t.loading : t.emptyStream)}</span>
      </p>
    );
  }
  return (
    <details open>
      <summary>{t.stderrLabel}</summary>
      <pre class="failure-stderr" tabIndex={0} aria-label={t.stderrLabel}>
        <AnsiText text={value} limit={STDERR_BYTES} />
      </pre>
    </details>
  );
}
