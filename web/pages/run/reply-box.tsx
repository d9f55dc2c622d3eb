import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { may } from '../../app/session.js';
import { client } from '../../server/client.js';
import { asFailure } from '../../server/use-resource.js';
import type { OpenRun } from './open-run.js';
import { openQuestion } from './open-question.js';
import type { OpenQuestion } from './open-question.js';

/** The answer to an agent that waits. It comes when the question does; the focus stays where it is, and the question is announced. */
export function ReplyBox({ run, isEnded }: { readonly run: OpenRun; readonly isEnded: boolean }) {
  void run.beats.page.value;
  const question = isEnded ? null : openQuestion(run.lenses.conversation.events);
  return (
    <>
      <div class="unseen" role="status">
        {question === null ? '' : `The agent asks: ${question.prompt.slice(0, 300)}`}
      </div>
      {question === null ? null : <ReplyForm key={question.interactionId} id={run.id} question={question} />}
    </>
  );
}

function ReplyForm({ id, question }: { readonly id: string; readonly question: OpenQuestion }) {
  const kept = `sluice.reply.${id}.${question.interactionId}`;
  const text = useSignal(readKept(kept));
  const state = useSignal<'writing' | 'sending' | 'sent'>('writing');
  const refusal = useSignal<string | null>(null);
  // At once: who leaves right after the last key loses nothing.
  useLayoutEffect(() => keep(kept, text.value), [text.value]);

  const send = async (): Promise<void> => {
    if (text.value.trim() === '' || state.value === 'sending') return;
    state.value = 'sending';
    try {
      await client.replyToRun({ id, body: { text: text.value } });
      text.value = '';
      refusal.value = null;
      state.value = 'sent';
    } catch (error) {
      // What was written stays.
      refusal.value = asFailure(error).message;
      state.value = 'writing';
    }
  };
  if (state.value === 'sent') return <p class="reply-box dim">Answered. The agent goes on.</p>;
  if (!may('run'))
    return <p class="reply-box">The agent waits for an answer. Answering needs a token with the scope “run”.</p>;
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
            <button key={option} type="button" onClick={() => (text.value = option)}>
              {option.slice(0, 60)}
            </button>
          ))}
        </div>
      )}
      <textarea
        id="reply"
        rows={3}
        value={text.value}
        aria-describedby="reply-help"
        aria-invalid={refusal.value !== null}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void send();
        }}
      />
      <div class="row">
        <button type="submit" class="primary" disabled={state.value === 'sending' || text.value.trim() === ''}>
          Answer
        </button>
        <span id="reply-help" class="help" role={refusal.value === null ? undefined : 'alert'}>
          {refusal.value ?? 'The agent waits and goes on with what you write. Ctrl+Enter sends it.'}
        </span>
      </div>
    </form>
  );
}

/** What was half written survives a reload. */
function keep(name: string, text: string): void {
  try {
    if (text === '') sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, text);
  } catch {
    // A browser may forbid storage, or have no room for a long text; then it lasts as long as the page.
  }
}

function readKept(name: string): string {
  try {
    return sessionStorage.getItem(name) ?? '';
  } catch {
    return '';
  }
}
