import type { ComponentChildren } from 'preact';
import { diffLines } from '../../../src/base/index.js';
import { DiffLines } from '../../ui/file-changes.js';
import { DataTable } from '../../ui/row-table.js';
import type { RunView } from '../../../src/server/api/index.js';
import { JsonTree, ValueText } from '../../ui/json-tree.js';
import { SafeText, Timestamp, formatDuration, formatMoment, formatUsage } from '../../ui/text.js';
import type { OpenRun } from './open-run.js';
import type { FcmpData, FcmpEvent } from '../../../src/events/index.js';
import type { Conversation } from './conversation.js';
import { toPath } from '../../app/route.js';
import { Badge, describeRepair, labelState, CopyButton } from '../../ui/parts.js';
import { ArtifactPreview } from './artifact.js';
import { t } from './texts.js';

export function TaskView({ view }: Readonly<{ view: RunView }>) {
  const { prompt, ...otherFields } = view.spec;
  return (
    <>
      {typeof prompt === 'string' && prompt !== '' ? <ValueText value={prompt} limit={4000} /> : null}
      <JsonTree value={otherFields} open={2} />
      <p class="dim">
        {t.created}
        <Timestamp at={view.created_at} />
        {t.started}
        <Timestamp at={view.started_at} />
        {t.ended} <Timestamp at={view.ended_at} />
      </p>
    </>
  );
}

export function AttemptsView({ run, hasEnded }: Readonly<{ run: OpenRun; hasEnded: boolean }>) {
  void run.redraws.page.value;
  const attempts = summarizeAttempts(run.data.conversation);
  const rows: readonly (readonly [string, (attempt: AttemptSummary) => string])[] = [
    [
      t.outcome,
      (attempt) => attempt.end ?? (hasEnded || attempt !== attempts.at(-1) ? t.states.ended : t.states.running),
    ],
    [t.duration, ({ from, to }) => formatDuration(to - from)],
    [t.states.messages, ({ messages }) => String(messages)],
    [
      t.states.tools,
      ({ tools, failedTools }) => (failedTools === 0 ? String(tools) : t.toolsFailed(tools, failedTools)),
    ],
    [t.usage, ({ usage }) => formatUsage(usage)],
    [t.answerBeforeTheAttempt, ({ reply }) => reply ?? ''],
    [t.lastMessage, ({ lastText }) => lastText ?? ''],
  ];
  return (
    <DataTable
      label={t.attemptsSideBySide}
      class="attempts"
      head={['', ...attempts.map(({ attempt }) => t.attempt(attempt))]}
      rows={[
        ...rows.map(([label, read]) => [label, ...attempts.map((one) => <SafeText text={read(one)} limit={1500} />)]),
        [t.changesInTheNextAnswer, ...attempts.map(({ lastText }, at) => compare(lastText, attempts[at + 1]))],
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
  to: number;
  messages: number;
  tools: number;
  failedTools: number;
  /** The user's answer that started the attempt; null for the first attempt and for retries. */
  reply: string | null;
  lastText: string | null;
  /** How the attempt ended: its reason code, its error code, why it was rejected, or a question; null if unknown. */
  end: string | null;
  usage: Usage;
}

type Usage = FcmpData<'conversation.completed'>['usage'] | null;

/** The maximum number of listed attempts; the conversation has all of them. */
export const MAX_ATTEMPTS = 20;

export function summarizeAttempts(
  conversation: Pick<Conversation, 'events' | 'times' | 'items'>,
): readonly AttemptSummary[] {
  const { events, times, items } = conversation;
  const attempts = new Map<number, AttemptSummary>();
  for (const item of items) {
    const first = events[item.events[0] ?? 0];
    const lastIndex = item.events.at(-1) ?? 0;
    const last = events[lastIndex];
    if (first === undefined || last === undefined) continue;
    const { attempt } = first.meta;
    const summary = attempts.get(attempt) ?? createSummary(attempt, times[item.events[0] ?? 0] ?? 0);
    attempts.set(attempt, summary);
    // A run with many answers has many attempts, and its last ones matter.
    for (const oldest of attempts.keys()) if (attempts.size > MAX_ATTEMPTS) attempts.delete(oldest);
    summary.to = Math.max(summary.to, times[lastIndex] ?? 0);
    addItem(summary, last);
  }
  return [...attempts.values()];
}

function addItem(summary: AttemptSummary, last: FcmpEvent): void {
  if (last.type === 'assistant.message.final') {
    summary.messages += 1;
    summary.lastText = last.data.text;
  } else if (last.type === 'assistant.tool_call') {
    summary.tools += 1;
    if (last.data.status === 'failed') summary.failedTools += 1;
  } else if (last.type === 'user.input.replied') summary.reply = last.data.text;
  else if (last.type === 'user.input.required') summary.end = t.askedAQuestion;
  else if (last.type === 'diagnostic.warning' && last.data.code === 'OUTPUT_RETRIED')
    summary.end = t.rejected(last.data.message);
  else if (last.type === 'conversation.completed') {
    summary.end = last.data.reason_code;
    summary.usage = last.data.usage;
  } else if (last.type === 'conversation.failed') {
    summary.end = last.data.error.code;
    summary.usage = last.data.usage;
  }
}

function createSummary(attempt: number, from: number): AttemptSummary {
  const counts = { messages: 0, tools: 0, failedTools: 0 };
  return { attempt, from, to: from, ...counts, reply: null, lastText: null, end: null, usage: null };
}

export function RunResultView(props: Readonly<{ result: Result; refused: RunView['refused_answers'] }>) {
  const { result, refused = [] } = props;
  const { value, comment, text, error, warnings, repairs = [], process, cached_from, model } = result;
  const { denials = [], diagnostics = [] } = result;
  const otherDiagnostics = diagnostics.filter(({ code }) => !warnings.some((warning) => warning.code === code));
  return (
    <>
      {cached_from === undefined ? null : (
        <p>
          {t.cachedResultOf}
          <a href={toPath({ page: 'run', id: cached_from })}>{cached_from}</a>
          {t.noAgentWasStarted}
        </p>
      )}
      {error === undefined ? null : <RunFailureView error={error} />}
      <Value title={t.value} value={value} />
      {value === undefined ? null : (
        <p>
          <CopyButton label={t.copyValue} read={() => JSON.stringify(value, null, 2)} />
        </p>
      )}
      <Value title={t.states.comment} value={comment} />
      <Value title={t.lastOutput} value={text} />
      <NoteList title={t.warnings} lines={warnings.map(({ code, message }) => [code, message, ''])} />
      <NoteList title={t.deniedTools} lines={denials.map(describeDenial)} />
      <NoteList title={t.refusedAnswers} lines={refused.map(describeRefusal)} />
      <NoteList
        title={t.diagnostics}
        lines={otherDiagnostics.map(({ code, message, count }) => [code, message, count === 1 ? '' : t.times(count)])}
      />
      <NoteList
        title={t.repairs}
        lines={repairs.map(({ kind, message, offset }) => {
          return [kind, describeRepair(kind) ?? message, t.atOffset(offset)];
        })}
      />
      <Value title={t.states.model} value={model} />
      <Value title={t.states.process} value={process} />
    </>
  );
}

export function describeDenial({ tool, by, who, why, at, input }: Denial): NoteLine {
  const call = input === undefined ? '' : ` ${JSON.stringify(input).slice(0, 200)}`;
  const decider = { rule: t.deniedByRule, engine: t.deniedByAgent, person: t.deniedByPerson(who) }[by];
  return [tool, why, ` ${decider} · ${formatMoment(at, null)}${call}`];
}

/** An answer to a permission request that came too late: who gave it, and when. */
export function describeRefusal({ option_id: option, who, why = '', at }: Refusal): NoteLine {
  return [option, why, ` ${formatMoment(at, null)}${who === undefined ? '' : ` · ${who}`}`];
}

type Denial = NonNullable<Result['denials']>[number];
type Refusal = NonNullable<RunView['refused_answers']>[number];
type Result = NonNullable<RunView['result']>;

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
      <ul class="list">
        {lines.slice(0, 100).map(([code, message, detail], index) => (
          <li key={index}>
            <Badge>{code}</Badge> <SafeText text={message} limit={1000} />
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

function RunFailureView({ error }: { readonly error: RunError }) {
  const { category, cause, http_status, code, message, issues = [], tried = [] } = error;
  return (
    <section>
      <h2>{t.error}</h2>
      <p>
        <Badge tone="bad">{code}</Badge> <span class="dim">{describeOrigin(category, cause, http_status)}</span>{' '}
        <SafeText text={message} limit={4000} />
      </p>
      <Lines
        title={t.schemaErrors}
        lines={issues.map(({ path, message: issue }) => `${path.length === 0 ? t.root : path.join('.')}: ${issue}`)}
      />
      <Lines
        title={t.candidatesTried}
        lines={tried.map((one) => `${one.finder} ${one.start}–${one.end}: ${one.code} ${one.message}`)}
      />
    </section>
  );
}

/** Describes where an error comes from: `Engine · Rate limit · HTTP 429`. */
function describeOrigin(category: string, cause: string | undefined, status: number | undefined): string {
  const parts = [category, ...(cause === undefined ? [] : [cause])].map(labelState);
  return [...parts, ...(status === undefined ? [] : [`HTTP ${status}`])].join(' · ');
}

function Lines({ title, lines }: Readonly<{ title: string; lines: readonly string[] }>) {
  if (lines.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="list">
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

export function ChangedFiles(
  props: Readonly<{ runId: string; artifacts: NonNullable<RunView['result']>['artifacts'] }>,
) {
  const { runId, artifacts } = props;
  const files = (['created', 'modified', 'deleted'] as const).flatMap((change) =>
    artifacts[change].map((path) => ({ change, path })),
  );
  if (files.length === 0) return <p class="dim">{t.theRunChangedNoFiles}</p>;
  return (
    <>
      <ul class="list">
        {files.slice(0, MAX_FILES).map(({ change, path }) => (
          <li key={`${change} ${path}`}>
            {change === 'deleted' ? (
              <span class="row">
                <span class="dim">{t.states.deleted}</span>
                <SafeText as="code" text={path} limit={400} />
              </span>
            ) : (
              <ArtifactPreview runId={runId} path={path} note={labelState(change)} />
            )}
          </li>
        ))}
      </ul>
      {files.length > MAX_FILES ? <p class="dim">{t.moreFiles(files.length - MAX_FILES)}</p> : null}
    </>
  );
}
