import { useSignal } from '@preact/signals';
import type { WaitingEntry } from '../../../src/api/index.js';
import type { FcmpEvent } from '../../../src/events/index.js';
import { toPath } from '../../app/route.js';
import { hasScope } from '../../app/session.js';
import { client } from '../../server/client.js';
import { findOpenQuestion } from '../../server/read-question.js';
import type { OpenQuestion } from '../../server/read-question.js';
import { asFailure, useResource } from '../../server/use-resource.js';
import { loadWaiting } from '../../server/waiting.js';
import { Badge, labelState } from '../../ui/badge.js';
import { Facts } from '../../ui/facts.js';
import { Markdown } from '../../ui/markdown.js';
import { Loading, Notice } from '../../ui/notice.js';
import { SafeText } from '../../ui/safe-text.js';
import { Timestamp } from '../../ui/time.js';
import { ReplyForm } from '../run/reply-box.js';

/** A question, a permission request or a failing sink, with everything needed to settle it. */
export function EntryDetail({
  entry,
  isSelected,
}: {
  readonly entry: WaitingEntry | undefined;
  /** Whether the address selects an entry. */
  readonly isSelected: boolean;
}) {
  if (entry === undefined) {
    return isSelected ? (
      <Notice tone="plain" title="This item is no longer waiting">
        It was settled or has ended. <a href="/inbox">Back to the list</a>
      </Notice>
    ) : null;
  }
  switch (entry.kind) {
    case 'question':
    case 'permission':
      return <AgentRequest entry={entry} />;
    case 'sink':
      return <FailingSink entry={entry} />;
    case 'result':
      return null;
  }
}

function AgentRequest({ entry }: { readonly entry: Extract<WaitingEntry, { kind: 'question' | 'permission' }> }) {
  const { run, kind, engine, task, at, interaction_id, seq } = entry;
  // The event is loaded because the list truncates the text and has no diffs.
  const event = useResource(`question ${run} ${seq}`, async (signal) => {
    const query = { protocol: 'fcmp', from: String(seq), to: String(seq) } as const;
    const { events } = await client.readHistory({ id: run, query, signal });
    // Safe cast: the server is part of the same package.
    return { question: findOpenQuestion(events as readonly FcmpEvent[]) };
  });
  if (event.value === null && event.failure === null) return <Loading />;
  const loadedQuestion = event.value?.question;
  // The server might no longer have the event.
  const question = loadedQuestion?.interactionId === interaction_id ? loadedQuestion : describeEntry(entry);
  const text = question.prompt;
  return (
    <article
      class="card stack question"
      aria-label={`${kind === 'question' ? 'Question' : 'Permission request'} from run ${run}`}
    >
      <header class="row">
        <h2>{kind === 'question' ? `${engine} asks a question` : `${engine} requests permission`}</h2>
        <Badge tone="warn">Waiting</Badge>
        <span class="dim">
          Since <Timestamp at={at} />
        </span>
        <span class="row end">
          <a href={toPath({ page: 'run', id: run })}>Open the run</a>
          <a class="back" href="/inbox">
            Back to the list
          </a>
        </span>
      </header>
      {kind === 'permission' ? null : (
        <div class="question-text">
          <Markdown text={text} />
        </div>
      )}
      <ReplyForm id={run} question={question} onStale={() => void loadWaiting()} onSent={() => void loadWaiting()} />
      <Facts
        facts={{
          Task: <SafeText text={task} limit={300} />,
          Issue:
            entry.issue_ref === null ? undefined : (
              <a href={toPath({ page: 'issues', ref: entry.issue_ref })}>{entry.issue_ref}</a>
            ),
        }}
      />
    </article>
  );
}

/** Describes a question by its list entry, which can be truncated. */
function describeEntry(entry: Extract<WaitingEntry, { kind: 'question' | 'permission' }>): OpenQuestion {
  const { interaction_id: interactionId, text: prompt } = entry;
  if (entry.kind === 'question') return { interactionId, prompt, options: entry.options };
  return { interactionId, prompt, options: [], permission: { options: entry.options } };
}

function FailingSink({ entry }: { readonly entry: Extract<WaitingEntry, { kind: 'sink' }> }) {
  const { sink, state, open, dead, text, at } = entry;
  const refusal = useSignal<string | null>(null);
  const redeliver = async (): Promise<void> => {
    try {
      await client.redeliverSink({ body: { sink } });
      refusal.value = null;
    } catch (error) {
      refusal.value = asFailure(error).message;
    }
    await loadWaiting();
  };
  return (
    <article class="card stack" aria-label={`Sink ${sink}`}>
      <header class="row">
        <h2>
          <SafeText text={sink} /> does not accept comments
        </h2>
        <Badge tone="bad">{labelState(state)}</Badge>
        <a class="back end" href="/inbox">
          Back to the list
        </a>
      </header>
      <Facts
        facts={{
          'Last error': <SafeText text={text} limit={2000} />,
          'Comments being retried': open,
          'Failed comments': dead,
          'Oldest comment': <Timestamp at={at} />,
        }}
      />
      <p>
        Fix the sink, then redeliver its comments. They keep their order, and a delivered comment is not sent twice.
      </p>
      <div class="row">
        {hasScope('decide') ? (
          <button type="button" class="primary" onClick={() => void redeliver()}>
            Redeliver all
          </button>
        ) : null}
        <a href="/outbox?state=dead">Failed comments</a>
        {refusal.value === null ? null : (
          <span class="wrong" role="alert">
            {refusal.value}
          </span>
        )}
      </div>
    </article>
  );
}
