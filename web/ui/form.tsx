import { Notice } from './notice.js';
import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import { readRefusal } from '../server/refusal.js';
import type { FieldMap, Refusal } from '../server/refusal.js';

/** A form's footer: why it was refused, the buttons, and the effect of submitting it. */
export function FormFooter<Field extends string>({
  form,
  failureTitle,
  unansweredTitle,
  submitLabel,
  sendingLabel,
  onReset,
  effect,
}: {
  readonly form: Form<Field>;
  /** Shown if the form was refused: `The run was not started`. */
  readonly failureTitle: string;
  /** Shown if the server did not respond and the request might have been executed. */
  readonly unansweredTitle: string;
  readonly submitLabel: string;
  readonly sendingLabel: string;
  readonly onReset: () => void;
  /** The effect of submitting the form. */
  readonly effect: string;
}) {
  const { refusal, errors, isSending } = form;
  return (
    <>
      <div aria-live="assertive">
        {refusal === null || refusal.message === null ? null : (
          <Notice tone="bad" title={refusal.isCertain ? failureTitle : unansweredTitle}>
            {refusal.message} <code>{refusal.code}</code>
          </Notice>
        )}
        {Object.keys(errors).length > 0 ? <p class="wrong">{failureTitle}. Correct the marked fields.</p> : null}
      </div>
      <div class="row">
        <button type="submit" class="primary" disabled={isSending}>
          {isSending ? sendingLabel : submitLabel}
        </button>
        <button type="button" onClick={onReset}>
          Reset form
        </button>
        <span class="dim">{effect}</span>
      </div>
    </>
  );
}

/** The state of a form that submits to the server. */
interface Form<Field extends string> {
  readonly ref: RefObject<HTMLFormElement>;
  /** Errors by field; empty before the first submit, so no field is marked while the user is still filling it in. */
  readonly errors: Readonly<Partial<Record<Field, string>>>;
  readonly refusal: Refusal<Field> | null;
  readonly isSending: boolean;
  readonly submit: (event: Event) => void;
  /** Removes the server's refusal after an edit: it was about the previous values. */
  readonly clearRefusal: () => void;
}

/**
 * Submits a form if it has no errors. Server errors are shown next to their fields; the first field with an error gets
 * the focus.
 */
export function useForm<Field extends string>(
  localErrors: Readonly<Partial<Record<Field, string>>>,
  fieldMap: FieldMap<Field>,
  send: () => Promise<void>,
): Form<Field> {
  const refusal = useSignal<Refusal<Field> | null>(null);
  const wasSubmitted = useSignal(false);
  const isSending = useSignal(false);
  const ref = useRef<HTMLFormElement>(null);
  const noErrors: Partial<Record<Field, string>> = {};
  const submit = async (): Promise<void> => {
    // A second click can arrive before the button is disabled.
    if (isSending.peek()) return;
    wasSubmitted.value = true;
    refusal.value = null;
    if (Object.keys(localErrors).length === 0) {
      isSending.value = true;
      try {
        await send();
        return;
      } catch (error) {
        refusal.value = readRefusal(error, fieldMap);
      } finally {
        isSending.value = false;
      }
    }
    requestAnimationFrame(() => ref.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus());
  };
  return {
    ref,
    errors: wasSubmitted.value ? { ...refusal.value?.errors, ...localErrors } : noErrors,
    refusal: refusal.value,
    isSending: isSending.value,
    submit: (event) => {
      event.preventDefault();
      void submit();
    },
    clearRefusal: () => (refusal.value = null),
  };
}
