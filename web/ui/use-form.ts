import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import { refusalOf } from '../server/refusal.js';
import type { Places, Refusal } from '../server/refusal.js';

/** A form that is sent to the server: what is wrong with it, and when. */
export interface Form<Field extends string> {
  readonly ref: RefObject<HTMLFormElement>;
  /** What is wrong, field by field; empty before the first try, so that nobody is told off while writing. */
  readonly wrong: Readonly<Partial<Record<Field, string>>>;
  readonly refusal: Refusal<Field> | null;
  readonly isSending: boolean;
  readonly submit: (event: Event) => void;
  /** Something was changed: what the server said was about what stood there before. */
  readonly touch: () => void;
}

/** Sends a form once nothing is wrong with it; what the server refuses is brought to its field, which gets the focus. */
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
        refusal.value = refusalOf(error, places);
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
