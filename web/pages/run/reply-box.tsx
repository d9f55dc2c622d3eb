import { useSignal } from '@preact/signals';
import { hasScope } from '../../app/session.js';
import { client } from '../../server/client.js';
import { findOpenQuestion, readQuestion } from '../../server/read-question.js';
import type { OpenQuestion } from '../../server/read-question.js';
import { asFailure } from '../../server/use-resource.js';
import { SafeText } from '../../ui/safe-text.js';
import { useDraft } from '../../ui/use-draft.js';
import type { OpenRun } from './open-run.js';
import './reply-box.css';

/** The answer to a waiting agent. It appears with the question; the focus stays where it is, and the question is announced. */
export function ReplyBox({ run, isEnded }: { readonly run: OpenRun; readonly isEnded: boolean }) {
  void run.beats.page.value;
  const question = isEnded ? null : findOpenQuestion(run.lenses.conversation.events);
  return (
    <>
      <div class="unseen" role="status">
        {question === null ? '' : <SafeText text={`The agent asks: ${question.prompt.slice(0, 300)}`} />}
      </div>
      {question === null ? null : <ReplyForm key={question.interactionId} id={run.id} question={question} />}
    </>
  );
}

/** Sends the answer to a question; before that it checks that the agent still waits with this very question. */
export function ReplyForm({
  id,
  question,
  onStale = () => undefined,
}: {
  readonly id: string;
  readonly question: OpenQuestion;
  /** Called when the question is not the open one any more. */
  readonly onStale?: () => void;
}) {
  const field = `reply-${id}`;
  const { fields, change, forget } = useDraft(`reply ${id} ${question.interactionId}`, { text: '' });
  const { text } = fields;
  const state = useSignal<'writing' | 'sending' | 'sent'>('writing');
  const refusal = useSignal<string | null>(null);

  const send = async (): Promise<void> => {
    if (text.trim() === '' || state.peek() === 'sending') return;
    state.value = 'sending';
    try {
      const now = await readQuestion(client, id, new AbortController().signal);
      if (now !== null && now.interactionId !== question.interactionId) {
        refusal.value = 'The agent has asked another question meanwhile. Nothing was sent.';
        state.value = 'writing';
        onStale();
        return;
      }
      await client.replyToRun({ id, body: { text } });
      forget();
      refusal.value = null;
      state.value = 'sent';
    } catch (error) {
      // What was written stays.
      refusal.value = asFailure(error).message;
      state.value = 'writing';
    }
  };
  if (state.value === 'sent') return <p class="reply-box dim">Answer sent. The run continues.</p>;
  if (!hasScope('run'))
    return <p class="reply-box">The agent is waiting for an answer. Read-only: this token lacks the scope run.</p>;
  return (
    <form
      class="reply-box"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <label for={field}>Your answer</label>
      {question.options.length === 0 ? null : (
        <div class="row">
          {question.options.slice(0, 10).map((option) => (
            <button key={option} type="button" onClick={() => change({ text: option })}>
              <SafeText text={option.slice(0, 60)} />
            </button>
          ))}
        </div>
      )}
      <textarea
        id={field}
        rows={3}
        value={text}
        aria-describedby={`${field}-help`}
        aria-invalid={refusal.value !== null}
        onInput={({ currentTarget }) => change({ text: currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void send();
        }}
      />
      <div class="row">
        <button type="submit" class="primary" disabled={state.value === 'sending' || text.trim() === ''}>
          Answer
        </button>
        <span
          id={`${field}-help`}
          class={refusal.value === null ? 'help' : 'wrong'}
          role={refusal.value === null ? undefined : 'alert'}
        >
          {refusal.value ?? 'The agent continues with your answer. Ctrl+Enter sends it.'}
        </span>
      </div>
    </form>
  );
}
