import { Notice } from './notice.js';
import type { Form } from './use-form.js';

/** The end of a form: why it was not taken, the button that sends it, and what will happen then. */
export function FormEnd<Field extends string>({
  form,
  not,
  unanswered,
  send,
  sending,
  empty,
  onEmpty,
  then,
}: {
  readonly form: Form<Field>;
  /** What has not happened: `The run was not started`. */
  readonly not: string;
  /** What to do when no answer came: what was sent may have been carried out. */
  readonly unanswered: string;
  readonly send: string;
  readonly sending: string;
  readonly empty: string;
  readonly onEmpty: () => void;
  /** What sending it brings about. */
  readonly then: string;
}) {
  const { refusal, wrong, isSending } = form;
  return (
    <>
      <div aria-live="assertive">
        {refusal === null || refusal.message === null ? null : (
          <Notice tone="bad" title={refusal.isCertain ? not : unanswered}>
            {refusal.message} <code>{refusal.code}</code>
          </Notice>
        )}
        {Object.keys(wrong).length > 0 ? <p class="wrong">{not}: look at what is marked above.</p> : null}
      </div>
      <div class="row">
        <button type="submit" class="primary" disabled={isSending}>
          {isSending ? sending : send}
        </button>
        <button type="button" onClick={onEmpty}>
          {empty}
        </button>
        <span class="dim">{then}</span>
      </div>
    </>
  );
}
