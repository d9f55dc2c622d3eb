import { useSignal } from '@preact/signals';
import type { WaitingEntry } from '../../../src/api/index.js';
import { client } from '../../server/client.js';
import { isReplaced, QUESTION_REPLACED } from '../../server/read-question.js';
import { asFailure } from '../../server/use-resource.js';
import { loadWaiting } from '../../server/waiting.js';
import { SafeText } from '../../ui/safe-text.js';
import { useDraft } from '../../ui/use-draft.js';

/** An inline form for answering with one line of text or one of the options. The detail view has room for more. */
export function InlineAnswer({
  entry,
  isInDetail,
}: {
  readonly entry: Extract<WaitingEntry, { kind: 'question' | 'permission' }>;
  /** Whether the full form is shown next to the list, if space permits. */
  readonly isInDetail: boolean;
}) {
  const { run, interaction_id } = entry;
  const { fields, change, discard } = useDraft(`reply ${run} ${interaction_id}`, { text: '' });
  const state = useSignal<'open' | 'sending' | 'sent'>('open');
  const refusal = useSignal<string | null>(null);
  const send = async (body: Parameters<typeof client.replyToRun>[0]['body']): Promise<void> => {
    if (state.peek() !== 'open') return;
    state.value = 'sending';
    try {
      // Text answers whatever question is open; an option names its permission request, so the server checks it.
      if ('text' in body && (await isReplaced(client, run, interaction_id))) throw new Error(QUESTION_REPLACED);
      await client.replyToRun({ id: run, body });
      discard();
      state.value = 'sent';
      refusal.value = null;
      await loadWaiting();
    } catch (error) {
      refusal.value = asFailure(error).message;
      state.value = 'open';
    }
  };
  const classes = isInDetail ? 'inline-answer in-detail' : 'inline-answer';
  if (state.value === 'sent') return <p class={`${classes} dim`}>Answer sent. The run continues.</p>;
  const isSending = state.value === 'sending';
  return (
    <form
      class={classes}
      onSubmit={(event) => {
        event.preventDefault();
        if (entry.kind === 'question' && fields.text.trim() !== '') void send({ text: fields.text });
      }}
    >
      {entry.kind === 'permission' ? (
        entry.options.slice(0, 6).map(({ id, label }) => (
          <button
            key={id}
            type="button"
            disabled={isSending}
            onClick={() => void send({ interaction_id, option_id: id })}
          >
            <SafeText text={label.slice(0, 60)} />
          </button>
        ))
      ) : (
        <>
          <input
            type="text"
            aria-label="Answer in one line"
            placeholder={
              entry.options.length === 0 ? 'Your answer' : entry.options.slice(0, 3).join(' · ').slice(0, 60)
            }
            value={fields.text}
            maxLength={20_000}
            onInput={({ currentTarget }) => change({ text: currentTarget.value })}
          />
          <button type="submit" disabled={isSending || fields.text.trim() === ''}>
            Send answer
          </button>
        </>
      )}
      {refusal.value === null ? null : (
        <span class="wrong" role="alert">
          {refusal.value}
        </span>
      )}
    </form>
  );
}
