import type { RefObject } from 'preact';
import type { ActionWords } from './resolution-actions.js';

/** The last question before something that cannot be taken back. */
export function Confirm({
  dialog,
  words,
  issueRef,
  send,
}: {
  readonly dialog: RefObject<HTMLDialogElement>;
  readonly words: ActionWords;
  readonly issueRef: string;
  readonly send: () => void;
}) {
  return (
    <dialog ref={dialog} aria-labelledby="confirm-question">
      <div class="stack">
        <h2 id="confirm-question">{words.question}</h2>
        <p>{words.outcome(issueRef)} The comment is delivered as it is shown. This cannot be taken back.</p>
        <div class="row">
          <button type="button" class="primary" onClick={send}>
            Yes, {words.label.toLowerCase()}
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            Not yet
          </button>
        </div>
      </div>
    </dialog>
  );
}
