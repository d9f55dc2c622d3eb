import type { ComponentChildren, TargetedKeyboardEvent } from 'preact';
import { DiffLines, diffLines } from '../../ui/file-changes.js';
import { DataTable } from '../../ui/row-table.js';
import type { RunView } from '../../../src/server/api/index.js';
import { JsonTree, ValueText, formatValue } from '../../ui/json-tree.js';
import { SafeText } from '../../ui/safe-text.js';
import { Timestamp, formatDuration, formatUsage } from '../../ui/format.js';
import type { OpenRun } from './open-run.js';
import type { FcmpData, FcmpEvent } from '../../../src/events/index.js';
import type { Conversation } from './conversation.js';
import { toPath } from '../../app/route.js';
import { Badge, capitalize } from '../../ui/badge.js';
import { CopyButton } from '../../ui/button.js';
import { describeRepair } from '../../ui/json-labels.js';
import { ArtifactPreview } from './artifact.js';

/** A run's task, result and attempts. Each is one line that opens as a panel over the page. */
export function RunDetails({ run, view }: Readonly<{ run: OpenRun; view: RunView }>) {
  const { prompt, ...otherFields } = view.spec;
  return (
    <div class="run-details">
      <Panel title="Task" line={describeTaskLine(view)}>
        {typeof prompt === 'string' && prompt !== '' ? <ValueText value={prompt} limit={4000} /> : null}
        <JsonTree value={otherFields} open={2} />
        <p class="dim">
          Created <Timestamp at={view.created_at} /> · Started <Timestamp at={view.started_at} /> · Ended{' '}
          <Timestamp at={view.ended_at} />
        </p>
      </Panel>
      <Panel title="Result" line={describeResultLine(view.result)}>
        {view.result === null ? (
          <p class="dim">No result until the run ends.</p>
        ) : (
          <RunResultView runId={view.id} result={view.result} />
        )}
      </Panel>
      {(view.result?.attempts ?? 1) > 1 ? (
        <Panel title="Attempts" line={`${view.result?.attempts ?? 1}, side by side`}>
          <AttemptsView run={run} hasEnded={view.state === 'ended'} />
        </Panel>
      ) : null}
    </div>
  );
}

function Panel({ title, line, children }: Readonly<{ title: string; line: string; children: ComponentChildren }>) {
  return (
    <details class="card" name="run-panel" onKeyDown={closeOnEscape}>
      <summary>
        <strong>{title}</strong>
        <SafeText as="span" class="one-line dim" text={line} />
      </summary>
      <div class="run-panel" tabIndex={0} role="region" aria-label={title}>
        {children}
      </div>
    </details>
  );
}

function closeOnEscape(event: TargetedKeyboardEvent<HTMLDetailsElement>): void {
  if (event.key === 'Escape') event.currentTarget.open = false;
}

function describeTaskLine({ spec }: RunView): string {
  const { prompt, command } = spec;
  if (typeof prompt === 'string' && prompt !== '') return toOneLine(prompt);
  return Array.isArray(command) ? toOneLine(command.join(' ')) : '';
}

function describeResultLine(result: RunView['result']): string {
  if (result === null) return 'None yet';
  const { value, comment, text, error } = result;
  return toOneLine(error?.['message'] ?? value ?? comment ?? text ?? result.status);
}

function toOneLine(value: unknown): string {
  return formatValue(value, 300).text.replaceAll(/\s+/g, ' ');
}

function AttemptsView({ run, hasEnded }: Readonly<{ run: OpenRun; hasEnded: boolean }>) {
  void run.redraws.page.value;
  const attempts = summarizeAttempts(run.data.conversation);
  const rows: readonly (readonly [string, (attempt: AttemptSummary) => string])[] = [
    ['Outcome', (attempt) => attempt.end ?? (hasEnded || attempt !== attempts.at(-1) ? 'Ended' : 'Running')],
    ['Duration', ({ from, to }) => formatDuration(to - from)],
    ['Messages', ({ messages }) => String(messages)],
    ['Tools', ({ tools, failedTools }) => (failedTools === 0 ? String(tools) : `${tools}, ${failedTools} failed`)],
    ['Usage', ({ usage }) => formatUsage(usage)],
    ['Answer before the attempt', ({ reply }) => reply ?? ''],
    ['Last message', ({ lastText }) => lastText ?? ''],
  ];
  return (
    <DataTable
      label="Attempts side by side"
      class="attempts"
      head={['', ...attempts.map(({ attempt }) => `Attempt ${attempt}`)]}
      rows={[
        ...rows.map(([label, read]) => [label, ...attempts.map((one) => <SafeText text={read(one)} limit={1500} />)]),
        ['Changes in the next answer', ...attempts.map(({ lastText }, at) => compare(lastText, attempts[at + 1]))],
      ]}
    />
  );
}

const MAX_COMPARED_LENGTH = 200_000;

function compare(text: string | null, nextAttempt: AttemptSummary | undefined) {
  const next = nextAttempt?.lastText ?? null;
  if (text === null || next === null || text.length + next.length > MAX_COMPARED_LENGTH) return null;
  return <DiffLines lines={diffLines(text, next)} />;
}

interface AttemptSummary {
  readonly attempt: number;
  readonly from: number;
  readonly to: number;
  readonly messages: number;
  readonly tools: number;
  readonly failedTools: number;
  /** The user's answer that started the attempt; null for the first attempt and for retries. */
  readonly reply: string | null;
  readonly lastText: string | null;
  /** How the attempt ended: its reason code, its error code, why it was rejected, or a question; null if unknown. */
  readonly end: string | null;
  readonly usage: Usage;
}

type Usage = FcmpData<'conversation.completed'>['usage'] | null;

/** The maximum number of compared attempts; the conversation has all of them. */
const MAX_ATTEMPTS = 20;

/** Summarizes a conversation's attempts for comparison. */
export function summarizeAttempts(
  conversation: Pick<Conversation, 'events' | 'times' | 'items'>,
): readonly AttemptSummary[] {
  const { events, times, items } = conversation;
  const attempts = new Map<number, MutableSummary>();
  for (const item of items) {
    const first = events[item.events[0] ?? 0];
    const lastIndex = item.events.at(-1) ?? 0;
    const last = events[lastIndex];
    if (first === undefined || last === undefined) continue;
    const { attempt } = first.meta;
    const summary = attempts.get(attempt) ?? createSummary(attempt, times[item.events[0] ?? 0] ?? 0);
    if (!attempts.has(attempt) && attempts.size >= MAX_ATTEMPTS) continue;
    attempts.set(attempt, summary);
    summary.to = Math.max(summary.to, times[lastIndex] ?? 0);
    addItem(summary, last);
  }
  return [...attempts.values()];
}

function addItem(summary: MutableSummary, last: FcmpEvent): void {
  if (last.type === 'assistant.message.final') {
    summary.messages += 1;
    summary.lastText = last.data.text;
  } else if (last.type === 'assistant.tool_call') {
    summary.tools += 1;
    if (last.data.status === 'failed') summary.failedTools += 1;
  } else if (last.type === 'user.input.replied') summary.reply = last.data.text;
  else if (last.type === 'user.input.required') summary.end = 'Asked a question';
  else if (last.type === 'diagnostic.warning' && last.data.code === 'OUTPUT_RETRIED')
    summary.end = `Rejected: ${last.data.message}`;
  else if (last.type === 'conversation.completed') {
    summary.end = last.data.reason_code;
    summary.usage = last.data.usage;
  } else if (last.type === 'conversation.failed') {
    summary.end = last.data.error.code;
    summary.usage = last.data.usage;
  }
}

type MutableSummary = { -readonly [Key in keyof AttemptSummary]: AttemptSummary[Key] };

function createSummary(attempt: number, from: number): MutableSummary {
  const counts = { messages: 0, tools: 0, failedTools: 0 };
  return { attempt, from, to: from, ...counts, reply: null, lastText: null, end: null, usage: null };
}

/** A run's result: the value, the repairs, the errors and the changed files. */
function RunResultView({ runId, result }: Readonly<{ runId: string; result: NonNullable<RunView['result']> }>) {
  const { value, comment, text, error, warnings, repairs = [], artifacts, process, cached_from, model } = result;
  const { denials = [], diagnostics = [] } = result;
  return (
    <div class="stack">
      {cached_from === undefined ? null : (
        <p>
          Cached result of <a href={toPath({ page: 'run', id: cached_from })}>{cached_from}</a>; no agent was started.
        </p>
      )}
      <div class="result-columns">
        <div class="stack">
          {error === undefined ? null : <RunFailureView error={error} />}
          <Value title="Value" value={value} />
          {value === undefined ? null : (
            <p>
              <CopyButton label="Copy value" read={() => JSON.stringify(value, null, 2)} />
            </p>
          )}
          <Value title="Comment" value={comment} />
          <Value title="Last output" value={text} />
        </div>
        <div class="stack">
          <NoteList title="Warnings" lines={warnings.map(({ code, message }) => [code, message, ''])} />
          <NoteList
            title="Denied tools"
            lines={denials.map(({ tool, why, input }) => {
              return [tool, why, input === undefined ? '' : ` ${JSON.stringify(input).slice(0, 200)}`];
            })}
          />
          <NoteList
            title="Diagnostics"
            lines={diagnostics.map(({ code, message, count }) => [
              code,
              message,
              count === 1 ? '' : `, ${count} times`,
            ])}
          />
          <NoteList
            title="Repairs"
            lines={repairs.map(({ kind, message, offset }) => {
              return [kind, describeRepair(kind) ?? message, `, at offset ${offset}`];
            })}
          />
          <ChangedFiles runId={runId} artifacts={artifacts} />
          <Value title="Model" value={model} />
          <Value title="Process" value={process} />
        </div>
      </div>
    </div>
  );
}

function Value({ title, value }: Readonly<{ title: string; value: unknown }>) {
  if (value === undefined) return null;
  return (
    <Part title={title}>
      {typeof value === 'object' && value !== null ? (
        <JsonTree value={value} open={3} />
      ) : (
        <ValueText value={value} limit={4000} />
      )}
    </Part>
  );
}

function Part({ title, children }: Readonly<{ title: string; children: ComponentChildren }>) {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

type NoteLine = readonly [code: string, message: string, detail: string];

function NoteList({ title, lines }: Readonly<{ title: string; lines: readonly NoteLine[] }>) {
  if (lines.length === 0) return null;
  return (
    <Part title={title}>
      <ul class="plain">
        {lines.slice(0, 100).map(([code, message, detail], index) => (
          <li key={index}>
            <Badge tone="warn">{code}</Badge> <SafeText text={message} limit={1000} />
            <span class="dim">{detail}</span>
          </li>
        ))}
      </ul>
    </Part>
  );
}

/** The maximum number of lines in a list of errors; the export has all of them. */
const MAX_LINES = 50;
type RunError = NonNullable<NonNullable<RunView['result']>['error']>;

function RunFailureView(props: { readonly error: RunError }) {
  const {
    error: { category, cause, http_status, code, message, issues = [], tried = [] },
  } = props;
  return (
    <section>
      <h2>Error</h2>
      <p>
        <Badge tone="bad">{code}</Badge> <span class="dim">{describeOrigin(category, cause, http_status)}</span>{' '}
        <SafeText text={message} limit={4000} />
      </p>
      <Lines
        title="Schema errors"
        lines={issues.map(({ path, message: issue }) => `${path.length === 0 ? '(root)' : path.join('.')}: ${issue}`)}
      />
      <Lines title="Candidates tried" lines={tried.map(describeTried)} />
    </section>
  );
}

function describeTried({ finder, start, end, code, message }: NonNullable<RunError['tried']>[number]): string {
  return `${finder} ${start}–${end}: ${code} ${message}`;
}

/** Describes where an error comes from: `Engine · Rate limit · HTTP 429`. */
function describeOrigin(category: string, cause: string | undefined, status: number | undefined): string {
  const parts = [category, ...(cause === undefined ? [] : [cause])].map(capitalize);
  return [...parts, ...(status === undefined ? [] : [`HTTP ${status}`])].join(' · ');
}

function Lines({ title, lines }: Readonly<{ title: string; lines: readonly string[] }>) {
  if (lines.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="plain">
        {lines.slice(0, MAX_LINES).map((line, index) => (
          <li key={index}>
            <SafeText text={line} limit={500} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** The maximum number of listed files; the export has all of them. */
const MAX_FILES = 100;

function ChangedFiles(props: Readonly<{ runId: string; artifacts: NonNullable<RunView['result']>['artifacts'] }>) {
  const { runId, artifacts } = props;
  const files = (['created', 'modified', 'deleted'] as const).flatMap((change) =>
    artifacts[change].map((path) => ({ change, path })),
  );
  if (files.length === 0) return null;
  return (
    <section>
      <h2>Files</h2>
      <ul class="plain">
        {files.slice(0, MAX_FILES).map(({ change, path }) => (
          <li key={`${change} ${path}`}>
            {change === 'deleted' ? (
              <span class="row">
                <span class="dim">Deleted</span>
                <SafeText as="code" text={path} limit={400} />
              </span>
            ) : (
              <ArtifactPreview runId={runId} path={path} note={capitalize(change)} />
            )}
          </li>
        ))}
      </ul>
      {files.length > MAX_FILES ? <p class="dim">{files.length - MAX_FILES} more</p> : null}
    </section>
  );
}
