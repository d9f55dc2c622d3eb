import { DiffLines, diffLines } from '../../ui/file-changes.js';
import type { DiffLine } from '../../ui/file-changes.js';
import type { ComponentChildren, TargetedKeyboardEvent } from 'preact';
import type { RunView } from '../../../src/server/api/index.js';
import { JsonTree, ValueText, formatValue } from '../../ui/json-tree.js';
import { SafeText } from '../../ui/safe-text.js';
import { Timestamp, formatDuration, formatUsage } from '../../ui/format.js';
import type { OpenRun } from './open-run.js';
import { RunResultView } from './run-result.js';
import type { FcmpData, FcmpEvent } from '../../../src/events/index.js';
import type { Conversation } from './conversation.js';

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
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Attempts side by side">
      <table class="attempts">
        <thead>
          <tr>
            <td />
            {attempts.map(({ attempt }) => (
              <th key={attempt} scope="col">
                Attempt {attempt}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([label, read]) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              {attempts.map((attempt) => (
                <td key={attempt.attempt}>
                  <SafeText text={read(attempt)} limit={1500} />
                </td>
              ))}
            </tr>
          ))}
          <tr>
            <th scope="row">Changes in the next answer</th>
            {attempts.map(({ attempt, lastText }, index) => {
              const next = attempts[index + 1]?.lastText ?? null;
              return (
                <td key={attempt}>
                  {lastText === null || next === null ? null : <DiffLines lines={compareTexts(lastText, next)} />}
                </td>
              );
            })}
          </tr>
        </tbody>
      </table>
    </div>
  );
}

/** Longer answers are not compared. */
const MAX_COMPARED_LENGTH = 200_000;

function compareTexts(before: string, after: string): readonly DiffLine[] {
  return before.length + after.length > MAX_COMPARED_LENGTH ? [] : diffLines(before, after);
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

/** Adds an item to the summary, by its last event. */
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
  return {
    attempt,
    from,
    to: from,
    messages: 0,
    tools: 0,
    failedTools: 0,
    reply: null,
    lastText: null,
    end: null,
    usage: null,
  };
}
