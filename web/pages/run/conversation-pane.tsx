import { describeItem, type EndData, type ItemView } from './conversation.js';
import { listItems, PaneList, type ListedItem, type PaneProps, Clock } from './pane-list.js';
import type { ComponentChildren } from 'preact';
import { Badge, labelState, type Tone } from '../../ui/parts.js';
import { Markdown } from '../../ui/markdown.js';
import { SafeText, formatDuration, formatUsage } from '../../ui/text.js';
import { AnsiText } from '../../ui/ansi-text.js';
import { JsonTree, ValueText } from '../../ui/json-tree.js';
import { ArtifactPreview } from './artifact.js';
import { readFileChanges } from '../../../src/base/index.js';
import { FileChanges } from '../../ui/file-changes.js';
import { t } from './texts.js';

export function ConversationPane({ run, isLive }: PaneProps) {
  void run.redraws.conversation.value;
  const { conversation, eventCount, shared, find, list } = listItems(run);
  return (
    <PaneList
      run={run}
      isLive={isLive}
      label={t.states.conversation}
      estimate={55}
      {...list}
      row={(position) => {
        const found = find(position);
        if (found === null) return null;
        const draw = () => {
          const view = describeItem(conversation, found.item, eventCount);
          return view === null ? null : <ConversationItem runId={run.id} view={view} {...shared} {...found} />;
        };
        return [found.dependencies, draw];
      }}
    />
  );
}

function ConversationItem(props: ListedItem & Readonly<{ runId: string; view: ItemView }>) {
  const { runId, view, hasRunEnded, start, isHighlighted, onChoose } = props;
  const state = chooseState(view, hasRunEnded);
  return (
    <div
      class={`item ${view.kind}${isHighlighted ? ' highlighted' : ''}${view.parent === null ? '' : ' of-sub-agent'}`}
    >
      <button type="button" class="choose item-head" tabIndex={-1} aria-pressed={isHighlighted} onClick={onChoose}>
        <strong>{chooseTitle(view)}</strong>
        {state === null ? null : <Badge tone={state.tone}>{state.label}</Badge>}
        {view.kind === 'tool' && view.ms !== null ? <span class="dim">{formatDuration(view.ms)}</span> : null}
        <span class="end">
          {view.attempt > 1 ? <span class="dim">{t.attempt(view.attempt)}</span> : null}{' '}
          <Clock at={view.at} start={start} />
        </span>
      </button>
      <div class="item-body">
        <Body runId={runId} view={view} />
      </div>
    </div>
  );
}

function chooseTitle(view: ItemView): ComponentChildren {
  switch (view.kind) {
    case 'start':
      return view.attempt > 1 ? t.sessionResumed : t.sessionStarted;
    case 'message':
      return view.parent === null ? t.agent : t.subAgent;
    case 'tool':
      return <SafeText text={readFirstLine(view.name)} />;
    case 'question':
      return view.isAnswerable ? t.states.question : t.endOfTurn;
    case 'reply':
      return t.answer;
    case 'raw':
      return view.stream;
    case 'failed':
      return view.category === 'canceled' ? t.states.canceled : t.states.failed;
    case 'status':
    case 'reasoning':
    case 'artifact':
    case 'diagnostic':
    case 'completed':
      return labelState(view.kind);
  }
}

/** Chooses an item's state. Once the run has ended, no item is shown as in progress. */
export function chooseState(view: ItemView, hasRunEnded: boolean): Readonly<{ label: string; tone: Tone }> | null {
  switch (view.kind) {
    case 'message':
    case 'reasoning':
      if (view.isComplete) return null;
      return hasRunEnded ? { label: t.cutOff, tone: 'plain' } : { label: t.writing, tone: 'plain' };
    case 'tool':
      if (view.status === 'started')
        return hasRunEnded ? { label: t.notFinished, tone: 'plain' } : { label: t.states.running, tone: 'plain' };
      return view.status === 'failed'
        ? { label: t.states.failed, tone: 'bad' }
        : { label: t.states.done, tone: 'good' };
    case 'question':
      if (!view.isOpen) return null;
      return hasRunEnded ? { label: t.notAnswered, tone: 'plain' } : { label: t.states.waiting, tone: 'warn' };
    case 'diagnostic':
      return { label: view.code, tone: 'plain' };
    case 'completed':
      return { label: view.reason, tone: 'good' };
    case 'failed':
      return { label: view.code, tone: view.category === 'canceled' ? 'plain' : 'bad' };
    case 'start':
    case 'status':
    case 'reply':
    case 'artifact':
    case 'raw':
      return null;
  }
}

function Body({ runId, view }: Readonly<{ runId: string; view: ItemView }>) {
  switch (view.kind) {
    case 'start':
      return view.sessionId === null ? null : (
        <p class="dim">
          {t.session}
          <SafeText as="code" text={view.sessionId} limit={200} />
        </p>
      );
    case 'status':
      return (
        <details>
          <summary>
            <SafeText text={readFirstLine(view.names.join(', '))} />
          </summary>
          <JsonTree value={view.statuses.length === 1 ? view.statuses[0] : view.statuses} />
        </details>
      );
    case 'message':
      return (
        <>
          <MessageText text={view.text} isComplete={view.isComplete} />
          {view.payload === undefined ? null : (
            <details>
              <summary>{t.extractedValue}</summary>
              <JsonTree value={view.payload} />
            </details>
          )}
        </>
      );
    case 'reasoning':
      return (
        <details>
          <summary>
            <SafeText text={readFirstLine(view.text)} />
          </summary>
          <Markdown text={view.text} />
        </details>
      );
    case 'tool':
      return <ToolCall view={view} />;
    case 'question':
      if (!view.isAnswerable) return <p class="dim">{t.theAgentMayHaveAsked}</p>;
      // Initially closed: the text usually repeats the agent's last message, which is shown above.
      return (
        <details>
          <summary>{t.questionText}</summary>
          <Markdown text={view.prompt} />
        </details>
      );
    case 'reply':
      return <SafeText text={view.text} limit={4000} />;
    case 'artifact':
      return <ArtifactPreview runId={runId} path={view.path} note={view.madeBy === null ? '' : t.by(view.madeBy)} />;
    case 'diagnostic':
      return (
        <p>
          <SafeText text={view.message} limit={1000} />
          {view.subject === null ? null : (
            <>
              {' '}
              <SafeText as="code" text={view.subject} limit={200} />
            </>
          )}
        </p>
      );
    case 'raw':
      return (
        <pre class="raw-lines">
          <AnsiText text={joinStart(view.lines, MAX_RAW)} limit={600} />
        </pre>
      );
    case 'completed':
    case 'failed':
      return (
        <>
          {view.kind === 'failed' ? <SafeText as="p" text={view.message} limit={2000} /> : null}
          <p class="dim">{formatEnd(view.data)}</p>
        </>
      );
  }
}

/** Formats the tokens of a conversation, and its durations and turns by the engine's own count. */
function formatEnd({ usage, duration_ms, duration_api_ms, turns }: EndData): string {
  const parts = [
    formatUsage(usage),
    duration_ms === undefined ? '' : formatDuration(duration_ms),
    duration_api_ms === undefined ? '' : t.inTheModel(formatDuration(duration_api_ms)),
    turns === undefined ? '' : t.turns(turns),
  ];
  return parts.filter((part) => part !== '').join(' · ');
}

/** A message's text: Markdown once complete, because it can change many times a second, and JSON as it is. */
function MessageText({ text, isComplete }: Readonly<{ text: string; isComplete: boolean }>) {
  if (/^\s*[[{]/.test(text)) return <ValueText value={text} limit={4000} />;
  return isComplete ? <Markdown text={text} /> : <SafeText text={text} />;
}

/** Returns the first line, short enough to be shown in full: a button or a summary cannot contain a "more" button. */
function readFirstLine(text: string): string {
  const [line = ''] = text.trim().split('\n', 1);
  return line.length > 100 ? `${line.slice(0, 100)}…` : line;
}

function ToolCall({ view }: { readonly view: Extract<ItemView, { kind: 'tool' }> }) {
  const { output } = view;
  return (
    <>
      <ToolInput view={view} />
      {view.error === null ? null : <SafeText as="p" class="tool-error" text={view.error} limit={1000} />}
      {output === undefined || output === '' ? null : (
        <details>
          <summary>{t.states.output}</summary>
          {typeof output === 'object' && output !== null ? (
            <JsonTree value={output} />
          ) : (
            <pre class="value">
              <AnsiText text={typeof output === 'string' ? output : JSON.stringify(output)} />
            </pre>
          )}
        </details>
      )}
    </>
  );
}

/** A tool's input: file changes as a diff, a single string as text, anything else as a tree. */
function ToolInput({ view }: { readonly view: Extract<ItemView, { kind: 'tool' }> }) {
  const changes = readFileChanges(view.input, view.diff);
  if (changes.length > 0) return <FileChanges changes={changes} />;
  if (view.input === undefined) return null;
  const input = simplifyInput(view.input);
  return typeof input === 'object' && input !== null ? (
    <JsonTree value={input} open={1} />
  ) : (
    <ValueText value={input} limit={300} />
  );
}

/** Reduces an input with a single string field to that string: `{ "command": "npm test" }` becomes `npm test`. */
function simplifyInput(input: unknown): unknown {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input;
  const values = Object.values<unknown>({ ...input });
  const [only] = values;
  return values.length === 1 && typeof only === 'string' ? only : input;
}

/** The maximum number of characters of raw lines per item. The raw bytes pane has all of them. */
const MAX_RAW = 20_000;

/** Joins lines up to a limit, because they can add up to hundreds of megabytes. */
function joinStart(lines: readonly string[], limit: number): string {
  let text = '';
  for (const line of lines) {
    if (text.length >= limit) break;
    text += `${text === '' ? '' : '\n'}${line.slice(0, limit)}`;
  }
  return text;
}
