import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { InboxItem } from '../../../src/api/index.js';
import { hasScope, session } from '../../app/session.js';
import { client } from '../../server/client.js';
import { readRefusal } from '../../server/refusal.js';
import type { FieldMap, Refusal } from '../../server/refusal.js';
import { RadioField, TextField, TextAreaField } from '../../ui/fields.js';
import { Notice } from '../../ui/notice.js';
import { useDraft } from '../../ui/use-draft.js';
import { CommentPreview, usePreview } from './comment-preview.js';
import { findAction, EMPTY_DECISION, readDecision, ACTIONS } from './decision-request.js';
import type { DecisionField, ActionTexts } from './decision-request.js';
import type { LineComment } from './line-comments.js';
import { isAcceptable } from './reading-view.js';
import { ResultFields } from './result-fields.js';
import { fillResultForm, RESULT_PATHS } from './result-form.js';
import type { RefObject } from 'preact';

/** The decision form: the actions and their effects, the reason, and the comment exactly as it will be delivered. */
export function Decide({
  item,
  comments,
  reload,
  onSettled,
}: {
  readonly item: InboxItem;
  /** Comments on lines of the change. */
  readonly comments: readonly LineComment[];
  readonly reload: () => void;
  /** Called when this user has settled the item. */
  readonly onSettled: () => void;
}) {
  const { fields, change, discard } = useDraft(`inbox ${item.id}`, {
    ...EMPTY_DECISION,
    ...fillResultForm(item.reading.result ?? item.reading.draft),
  });
  const name = useDraft('who', { who: '' });
  const isLocal = session.value.state === 'signed-in' && session.value.name === 'local';
  const decision = readDecision(fields, item, isLocal ? name.fields.who : '', comments);
  const preview = usePreview(item.id, item.resolution === null ? decision.body : null);
  const refusal = useSignal<Refusal<DecisionField> | null>(null);
  const isSending = useSignal(false);
  const wasSubmitted = useSignal(false);
  const dialog = useRef<HTMLDialogElement>(null);

  const action = findAction(fields);
  const labels = ACTIONS.find((known) => known.action === action);
  const edit = (changes: Partial<typeof fields>): void => {
    change(changes);
    refusal.value = null;
  };

  const send = async (): Promise<void> => {
    dialog.current?.close();
    if (decision.body === null) return;
    isSending.value = true;
    try {
      await client.resolveItem({ id: item.id, body: decision.body });
      discard();
      onSettled();
    } catch (error) {
      refusal.value = readRefusal(error, FIELD_MAP);
    } finally {
      isSending.value = false;
      reload();
    }
  };
  const askForConfirmation = (event: Event): void => {
    event.preventDefault();
    wasSubmitted.value = true;
    if (decision.body !== null && preview.isCurrent) dialog.current?.showModal();
  };

  if (item.resolution !== null) return <UnsentDraft why={fields.why} refusal={refusal.value} discard={discard} />;
  if (!hasScope('decide')) {
    return (
      <Notice tone="plain" title='Read-only: this token lacks the scope "decide"'>
        Sign in with a token that has this scope to settle items.
      </Notice>
    );
  }
  const previewRefusal = preview.error === null ? null : readRefusal(preview.error, FIELD_MAP);
  const errors = {
    ...previewRefusal?.errors,
    ...refusal.value?.errors,
    ...(wasSubmitted.value ? decision.errors : {}),
    ...pickJsonError(decision.errors),
  };
  const chooseAction = (next: ActionTexts['action']): void => {
    edit({ action: next });
    requestAnimationFrame(() => {
      const field = document.querySelector<HTMLElement>('#why');
      field?.focus({ preventScroll: true });
      field?.scrollIntoView({ block: 'center' });
    });
  };
  return (
    <>
      <form id="decide" class="card stack decide" noValidate onSubmit={askForConfirmation}>
        <h2>Decide</h2>
        <RadioField
          name="action"
          legend="Action"
          value={fields.action}
          onChange={(chosen) => edit({ action: chosen })}
          options={ACTIONS.map(({ action: value, label, help }) => {
            const isDisabled = value === 'accept' && !isAcceptable(item.reading, item);
            return {
              value,
              label,
              help: isDisabled ? 'Not available: this run has no valid result. Use Edit and accept.' : help,
              isDisabled,
            };
          })}
        />
        {action === 'edit' ? <ResultFields item={item} fields={fields} errors={errors} change={edit} /> : null}
        {labels === undefined ? null : (
          <>
            <TextAreaField
              id="why"
              label="Reason"
              help="Quoted in the comment and stored with the decision."
              error={errors.why}
              rows={3}
              maxLength={5000}
              value={fields.why}
              onChange={(why) => edit({ why })}
            />
            {isLocal ? (
              <TextField
                id="who"
                label="Your name"
                help="This server has no tokens, so it cannot identify you. Leave empty to be recorded as local."
                type="text"
                maxLength={200}
                autocomplete="name"
                value={name.fields.who}
                onChange={(who) => name.change({ who })}
              />
            ) : (
              <p class="dim">
                Recorded as decided by {session.value.state === 'signed-in' ? session.value.name : 'you'}.
              </p>
            )}
            <CommentPreview preview={preview} isRequested={decision.body !== null} refusal={previewRefusal} />
            {refusal.value === null || refusal.value.message === null ? null : (
              <Notice
                tone="bad"
                title={
                  refusal.value.isCertain
                    ? 'The item was not settled'
                    : 'The server did not respond: the item may or may not be settled'
                }
              >
                {refusal.value.message} <code>{refusal.value.code}</code>
              </Notice>
            )}
            <div class="row">
              <button
                type="submit"
                class="primary"
                disabled={isSending.value || (decision.body !== null && !preview.isCurrent)}
              >
                {isSending.value ? 'Settling …' : labels.button}
              </button>
              <span class="dim">{labels.outcome(item.issue_ref)}</span>
            </div>
            <Confirm dialog={dialog} labels={labels} issueRef={item.issue_ref} send={() => void send()} />
          </>
        )}
      </form>
      <DecideBar item={item} chosen={action} onChoose={chooseAction} />
    </>
  );
}

/** The keyboard shortcuts of the actions. */
const ACTION_KEYS: Readonly<Record<ActionTexts['action'], string>> = {
  accept: 'a',
  edit: 'e',
  retry: 't',
  reject: 'r',
};

/**
 * The actions with their shortcuts, always visible at the bottom of the window. Choosing an action moves the focus to
 * the reason.
 */
function DecideBar({
  item,
  chosen,
  onChoose,
}: {
  readonly item: InboxItem;
  readonly chosen: ActionTexts['action'] | null;
  readonly onChoose: (action: ActionTexts['action']) => void;
}) {
  const offered = ACTIONS.filter(({ action }) => action !== 'accept' || isAcceptable(item.reading, item));
  const current = useRef(onChoose);
  current.current = onChoose;
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (event.target instanceof Element && event.target.closest('input, textarea, select, dialog') !== null) return;
      const labels = offered.find(({ action }) => ACTION_KEYS[action] === event.key);
      if (labels === undefined) return;
      event.preventDefault();
      current.current(labels.action);
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, [offered.length]);
  return (
    <div class="decide-bar" role="toolbar" aria-label="Decide">
      {ACTIONS.map(({ action, label }) => (
        <button
          key={action}
          type="button"
          aria-pressed={chosen === action}
          aria-keyshortcuts={ACTION_KEYS[action]}
          disabled={!offered.some((choice) => choice.action === action)}
          onClick={() => onChoose(action)}
        >
          {label} <kbd aria-hidden="true">{ACTION_KEYS[action]}</kbd>
        </button>
      ))}
      <span class="dim end decide-hint">Choose an action, give a reason, confirm.</span>
    </div>
  );
}

const FIELD_MAP: FieldMap<DecisionField> = {
  paths: RESULT_PATHS,
  codes: {},
};

/** Picks the JSON syntax error, which is reported while typing. Other errors are reported after the first submit. */
function pickJsonError({ json }: Readonly<Partial<Record<DecisionField, string>>>): { readonly json?: string } {
  return json === undefined ? {} : { json };
}

/** Shows the draft decision after another user has settled the item. */
function UnsentDraft({
  why,
  refusal,
  discard,
}: {
  readonly why: string;
  readonly refusal: Refusal<DecisionField> | null;
  readonly discard: () => void;
}) {
  if (why.trim() === '') return null;
  return (
    <Notice tone="plain" title="Already settled" action={{ label: 'Discard draft', run: discard }}>
      {refusal?.message ?? 'The decision is shown above.'} Your draft: <q>{why}</q>
    </Notice>
  );
}

/** The confirmation before a decision, which cannot be undone. */
function Confirm({
  dialog,
  labels,
  issueRef,
  send,
}: {
  readonly dialog: RefObject<HTMLDialogElement>;
  readonly labels: ActionTexts;
  readonly issueRef: string;
  readonly send: () => void;
}) {
  return (
    <dialog ref={dialog} aria-labelledby="confirm-question">
      <div class="stack">
        <h2 id="confirm-question">{labels.question}</h2>
        <p>{labels.outcome(issueRef)} The comment is delivered exactly as shown. This cannot be undone.</p>
        <div class="row">
          <button type="button" class="primary" onClick={send}>
            Yes, {labels.label.toLowerCase()}
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
        </div>
      </div>
    </dialog>
  );
}
