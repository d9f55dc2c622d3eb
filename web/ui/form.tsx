import { Notice } from './notice.js';
import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import { readRefusal } from '../server/refusal.js';
import type { Places, Refusal } from '../server/refusal.js';

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
  /** The action that failed: `The run was not started`. */
  readonly not: string;
  /** Advice if the server did not respond: the request may have been executed. */
  readonly unanswered: string;
  readonly send: string;
  readonly sending: string;
  readonly empty: string;
  readonly onEmpty: () => void;
  /** The effect of submitting the form. */
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
        {Object.keys(wrong).length > 0 ? <p class="wrong">{not}. Correct the marked fields.</p> : null}
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

/** A form that is sent to the server: what is wrong with it, and when. */
interface Form<Field extends string> {
  readonly ref: RefObject<HTMLFormElement>;
  /** Errors by field; empty before the first submit, so that nothing is marked while it is being typed. */
  readonly wrong: Readonly<Partial<Record<Field, string>>>;
  readonly refusal: Refusal<Field> | null;
  readonly isSending: boolean;
  readonly submit: (event: Event) => void;
  /** The form was edited: the server's refusal was about the previous values. */
  readonly touch: () => void;
}

/** Submits a form once it has no errors; what the server refuses is shown at its field, which gets the focus. */
export function useForm<Field extends string>(
  wrongHere: Readonly<Partial<Record<Field, string>>>,
  places: Places<Field>,
  send: () => Promise<void>,
): Form<Field> {
  const refusal = useSignal<Refusal<Field> | null>(null);
  const isTried = useSignal(false);
  const isSending = useSignal(false);
  const ref = useRef<HTMLFormElement>(null);
  const nothing: Partial<Record<Field, string>> = {};
  const submit = async (): Promise<void> => {
    // A second click may come before the button is drawn as switched off.
    if (isSending.peek()) return;
    isTried.value = true;
    refusal.value = null;
    if (Object.keys(wrongHere).length === 0) {
      isSending.value = true;
      try {
        await send();
        return;
      } catch (error) {
        refusal.value = readRefusal(error, places);
      } finally {
        isSending.value = false;
      }
    }
    requestAnimationFrame(() => ref.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus());
  };
  return {
    ref,
    wrong: isTried.value ? { ...refusal.value?.wrong, ...wrongHere } : nothing,
    refusal: refusal.value,
    isSending: isSending.value,
    submit: (event) => {
      event.preventDefault();
      void submit();
    },
    touch: () => (refusal.value = null),
  };
}
