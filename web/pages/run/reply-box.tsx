import { useSignal } from '@preact/signals';
import { hasScope } from '../../app/session.js';
import { client } from '../../server/client.js';
import { asFailure } from '../../server/use-resource.js';
import { SafeText } from '../../ui/safe-text.js';
import { useDraft } from '../../ui/use-draft.js';
import type { OpenRun } from './open-run.js';
import type { FcmpEvent } from '../../../src/events/index.js';

/** The answer to an agent that waits. It comes when the question does; the focus stays where it is, and the question is announced. */
export function ReplyBox({ run, isEnded }: { readonly run: OpenRun; readonly isEnded: boolean }) {
  void run.beats.page.value;
  const question = isEnded ? null : openQuestion(run.lenses.conversation.events);
  return (
    <>
      <div class="unseen" role="status">
        {question === null ? '' : <SafeText text={`The agent asks: ${question.prompt.slice(0, 300)}`} />}
      </div>
      {question === null ? null : <ReplyForm key={question.interactionId} id={run.id} question={question} />}
    </>
  );
}

function ReplyForm({ id, question }: { readonly id: string; readonly question: OpenQuestion }) {
  const { fields, change, forget } = useDraft(`reply ${id} ${question.interactionId}`, { text: '' });
  const { text } = fields;
  const state = useSignal<'writing' | 'sending' | 'sent'>('writing');
  const refusal = useSignal<string | null>(null);

  const send = async (): Promise<void> => {
    if (text.trim() === '' || state.peek() === 'sending') return;
    state.value = 'sending';
    try {
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
      <label for="reply">Your answer</label>
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
        id="reply"
        rows={3}
        value={text}
        aria-describedby="reply-help"
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
          id="reply-help"
          class={refusal.value === null ? 'help' : 'wrong'}
          role={refusal.value === null ? undefined : 'alert'}
        >
          {refusal.value ?? 'The agent continues with your answer. Ctrl+Enter sends it.'}
        </span>
      </div>
    </form>
  );
}

/** A question that an agent waits with. */
interface OpenQuestion {
  readonly interactionId: string;
  readonly prompt: string;
  readonly options: readonly string[];
}

/** The question that the events end with: any later event means that it was answered. */
export function openQuestion(events: readonly FcmpEvent[]): OpenQuestion | null {
  const last = events.at(-1);
  if (last?.type !== 'user.input.required') return null;
  const { interaction_id, prompt, options = [] } = last.data;
  return { interactionId: interaction_id, prompt, options };
}
