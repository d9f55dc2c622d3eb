import type { TargetedKeyboardEvent } from 'preact';
import { useEffect } from 'preact/hooks';
import { readFileChanges, type FileChange } from '../../../src/base/index.js';
import type { RunView } from '../../../src/server/api/index.js';
import { findOpenQuestion } from '../../data/read-question.js';
import { labelState, Button, Loading } from '../../ui/parts.js';
import { FileChanges } from '../../ui/file-changes.js';
import { formatCount, SafeText } from '../../ui/text.js';
import { describeItem } from './conversation.js';
import type { OpenRun, TabName } from './open-run.js';
import { ReplyForm } from './reply-box.js';
import { AttemptsView, ChangedFiles, MAX_ATTEMPTS, RunResultView, TaskView } from './run-details.js';
import { t } from './texts.js';

const INSPECTOR_TABS: readonly TabName[] = ['result', 'event', 'raw', 'files', 'diff', 'task'];

/** The tabs that show the selected item; a selection opens the first of them, unless one is open. */
const SELECTION_TABS: readonly TabName[] = ['event', 'raw', 'diff'];

type Inspector = ReturnType<typeof useInspector>;

/** Chooses the tabs, and the open one: a new question opens its tab, and so does a selection. */
export function useInspector(run: OpenRun, view: RunView, isLive: boolean, isNarrow: boolean) {
  void run.redraws.page.value;
  const question = findQuestion(run, view);
  const interactionId = question?.interactionId ?? null;
  useEffect(() => {
    if (interactionId !== null) run.tab.value = 'question';
  }, [interactionId]);
  const selection = run.selection.value;
  useEffect(() => {
    const current = run.tab.peek();
    if (selection === null || isNarrow || current === 'question') return;
    if (current === null || !SELECTION_TABS.includes(current))
      run.tab.value = selection.pane === 'raw' ? 'raw' : 'event';
  }, [selection, isNarrow]);
  const tabs: readonly TabName[] = [
    ...(isNarrow ? (['conversation', 'timeline'] as const) : []),
    // A waiting run has a question, which arrives later than the run.
    ...(question === null && view.state !== 'waiting' ? [] : (['question'] as const)),
    ...INSPECTOR_TABS,
    ...(countAttempts(run, view) > 1 ? (['attempts'] as const) : []),
  ];
  const first = isNarrow ? 'conversation' : isLive ? 'event' : 'result';
  const initial = view.state === 'waiting' ? 'question' : first;
  const tab = run.tab.value;
  return { tabs, tab: tab !== null && tabs.includes(tab) ? tab : initial, question: question?.prompt ?? '' };
}

function findQuestion(run: OpenRun, view: RunView) {
  return view.state === 'ended' ? null : findOpenQuestion(run.data.conversation.events);
}

function countAttempts(run: OpenRun, view: RunView): number {
  return Math.max(view.result?.attempts ?? 1, run.data.conversation.events.at(-1)?.meta.attempt ?? 1);
}

/** The tabs of the inspector. A question is announced without moving the focus. */
export function InspectorTabs({ run, tabs, tab, question }: Inspector & Readonly<{ run: OpenRun }>) {
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length] ?? tab;
    run.tab.value = next;
    event.currentTarget.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
  };
  return (
    <>
      <div class="visually-hidden" role="status">
        {question === '' ? '' : <SafeText text={t.theAgentAsks(question.slice(0, 300))} />}
      </div>
      <div class="run-tabs" role="tablist" aria-label={t.inspector} onKeyDown={onKeyDown}>
        {tabs.map((name) => (
          <button
            key={name}
            type="button"
            id={`tab-${name}`}
            class={name === 'question' ? 'needs-you' : ''}
            role="tab"
            aria-controls={name === tab ? `run-pane-${name}` : undefined}
            aria-selected={name === tab}
            tabIndex={name === tab ? 0 : -1}
            onClick={() => (run.tab.value = name)}
          >
            {labelState(name)}
            <Count run={run} name={name} />
          </button>
        ))}
      </div>
    </>
  );
}

function Count({ run, name }: Readonly<{ run: OpenRun; name: TabName }>) {
  void run.redraws.page.value;
  if (name !== 'event' && name !== 'raw') return null;
  const pane = name === 'event' ? run.data.list : run.data.rows;
  return <span class="run-pane-count"> {formatCount(pane.count(run.replayTime.value))}</span>;
}

/** Tabs that limit the conversation to one attempt, for the last attempts; none if there is only one. */
export function AttemptTabs({ run, view }: Readonly<{ run: OpenRun; view: RunView }>) {
  void run.redraws.page.value;
  const count = countAttempts(run, view);
  if (count < 2) return null;
  const omitted = Math.max(0, count - MAX_ATTEMPTS);
  const { attempt } = run.filter.query.value;
  return (
    <div class="run-tabs" role="group" aria-label={t.states.attempts}>
      {[null, ...Array.from({ length: count - omitted }, (_, index) => omitted + index + 1)].map((number) => (
        <Button
          key={number}
          label={number === null ? t.allAttempts : t.attempt(number)}
          aria-pressed={attempt === number}
          onClick={() => run.filter.set({ attempt: number })}
        />
      ))}
    </div>
  );
}

/** A tab with text: it scrolls as a whole. */
export function InspectorContent({ run, view, tab }: Readonly<{ run: OpenRun; view: RunView; tab: TabName }>) {
  const { result } = view;
  return (
    <div class="inspector-text stack" tabIndex={0}>
      {tab === 'question' ? <Question run={run} view={view} /> : null}
      {tab === 'result' && result === null ? <p class="dim">{t.noResultUntilTheRun}</p> : null}
      {tab === 'result' && result !== null ? <RunResultView result={result} refused={view.refused_answers} /> : null}
      {tab === 'files' && result === null ? <p class="dim">{t.changedFilesAreListedWhen}</p> : null}
      {tab === 'files' && result !== null ? <ChangedFiles runId={view.id} artifacts={result.artifacts} /> : null}
      {tab === 'diff' ? <Diff run={run} /> : null}
      {tab === 'attempts' ? <AttemptsView run={run} hasEnded={view.state === 'ended'} /> : null}
      {tab === 'task' ? <TaskView view={view} /> : null}
    </div>
  );
}

function Question({ run, view }: Readonly<{ run: OpenRun; view: RunView }>) {
  void run.redraws.page.value;
  const question = findQuestion(run, view);
  if (question === null) return <Loading />;
  return <ReplyForm key={question.interactionId} id={run.id} question={question} isQuoted />;
}

/** The last tool calls whose changes are shown while nothing is selected. */
const MAX_TOOLS = 200;

/** The file changes of the selected tool call; without one, of the last tool calls. */
function Diff({ run }: Readonly<{ run: OpenRun }>) {
  void run.redraws.page.value;
  const { conversation } = run.data;
  const selected = run.highlight.value?.item ?? null;
  const read = (index: number): readonly FileChange[] => {
    const item = conversation.items[index];
    const view = item === undefined ? null : describeItem(conversation, item, conversation.events.length);
    return view?.kind === 'tool' ? readFileChanges(view.input, view.diff) : [];
  };
  const own = selected === null ? [] : read(selected);
  if (own.length > 0) return <FileChanges changes={own} />;
  const first = Math.max(0, conversation.items.length - MAX_TOOLS);
  const all = conversation.items.slice(first).flatMap((_, index) => read(first + index));
  if (all.length === 0) return <p class="dim">{t.noToolCallOfThis}</p>;
  return (
    <>
      {selected === null ? null : <p class="dim">{t.theSelectedItemChangedNo}</p>}
      <FileChanges changes={all} />
    </>
  );
}
