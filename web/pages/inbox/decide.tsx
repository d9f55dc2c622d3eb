import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { RefObject } from 'preact';
import type { InboxItem } from '../../../src/server/api/index.js';
import { hasScope, session } from '../../app/session.js';
import { client } from '../../data/client.js';
import { readRefusal, type FieldMap, type Refusal } from '../../data/refusal.js';
import { bindFields, RefusalNotice, type FormPart } from '../../ui/form.js';
import { Notice, ReadOnly } from '../../ui/notice.js';
import { useKeys } from '../../ui/row-table.js';
import { useDraft } from '../../ui/use-draft.js';
import {
  findAction,
  readDecision,
  ACTIONS,
  RESULT_PATHS,
  EMPTY_DECISION,
  fillResultForm,
  isAcceptable,
  parseResult,
  formatResult,
  buildResult,
} from './decision.js';
import type { DecisionField, ActionTexts, ResolveBody, LineComment, DecisionFields } from './decision.js';
import { SafeText } from '../../ui/safe-text.js';
import { ClientError } from '../../../src/server/client/index.js';
import { Button } from '../../ui/button.js';

/** The decision form: the actions and their effects, the reason, and the comment exactly as it will be delivered. */
export function Decide(
  props: Readonly<{ item: InboxItem; comments: readonly LineComment[]; reload: () => void; onSettled: () => void }>,
) {
  const { item, comments, reload, onSettled } = props;
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
  if (!hasScope('decide')) return <ReadOnly scope="decide" purpose="settle items" />;
  const previewRefusal = preview.error === null ? null : readRefusal(preview.error, FIELD_MAP);
  const errors = {
    ...previewRefusal?.errors,
    ...refusal.value?.errors,
    ...(wasSubmitted.value ? decision.errors : {}),
    // A syntax error is reported while typing, other errors after the first submit.
    ...(decision.errors.json === undefined ? {} : { json: decision.errors.json }),
  };
  const form = { fields, errors, edit };
  const { radio, area } = bindFields(form);
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
        {radio(
          'action',
          'Action',
          ACTIONS.map(({ action: value, label, help }) => {
            const isDisabled = value === 'accept' && !isAcceptable(item.reading, item);
            return [value, label, isDisabled ? NOT_ACCEPTABLE : help, isDisabled];
          }),
        )}
        {action === 'edit' ? <ResultFields item={item} {...form} /> : null}
        {labels === undefined ? null : (
          <>
            {area('why', 'Reason', 'Quoted in the comment and stored with the decision.', { rows: 3, maxLength: 5000 })}
            {isLocal ? (
              bindFields({ fields: name.fields, errors: {}, edit: name.change }).text(
                'who',
                'Your name',
                'This server has no tokens, so it cannot identify you. Leave empty to be recorded as local.',
                { maxLength: 200, autocomplete: 'name' },
              )
            ) : (
              <p class="dim">
                Recorded as decided by {session.value.state === 'signed-in' ? session.value.name : 'you'}.
              </p>
            )}
            <CommentPreview preview={preview} isRequested={decision.body !== null} refusal={previewRefusal} />
            <RefusalNotice
              refusal={refusal.value}
              title="The item was not settled"
              unansweredTitle="The server did not respond: the item may or may not be settled"
            />
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

const NOT_ACCEPTABLE = 'Not available: this run has no valid result. Use Edit and accept.';

const ACTION_KEYS: Readonly<Record<ActionTexts['action'], string>> = {
  accept: 'a',
  edit: 'e',
  retry: 't',
  reject: 'r',
};

/** The actions with their shortcuts, always visible. Choosing one moves the focus to the reason. */
function DecideBar(props: {
  readonly item: InboxItem;
  readonly chosen: ActionTexts['action'] | null;
  readonly onChoose: (action: ActionTexts['action']) => void;
}) {
  const { item, chosen, onChoose } = props;
  const offered = ACTIONS.filter(({ action }) => action !== 'accept' || isAcceptable(item.reading, item));
  useKeys(({ key }) => {
    const labels = offered.find(({ action }) => ACTION_KEYS[action] === key);
    if (labels !== undefined) onChoose(labels.action);
    return labels !== undefined;
  });
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

const FIELD_MAP: FieldMap<DecisionField> = { paths: RESULT_PATHS, codes: {} };

function UnsentDraft(props: Readonly<{ why: string; refusal: Refusal<DecisionField> | null; discard: () => void }>) {
  const { why, refusal, discard } = props;
  if (why.trim() === '') return null;
  return (
    <Notice tone="plain" title="Already settled" action={{ label: 'Discard draft', run: discard }}>
      {refusal?.message ?? 'The decision is shown above.'} Your draft: <q>{why}</q>
    </Notice>
  );
}

/** The confirmation before a decision, which cannot be undone. */
function Confirm(
  props: Readonly<{ dialog: RefObject<HTMLDialogElement>; labels: ActionTexts; issueRef: string; send: () => void }>,
) {
  const { dialog, labels, issueRef, send } = props;
  return (
    <dialog ref={dialog} aria-labelledby="confirm-question">
      <div class="stack">
        <h2 id="confirm-question">{labels.question}</h2>
        <p>{labels.outcome(issueRef)} The comment is delivered exactly as shown. This cannot be undone.</p>
        <div class="row">
          <button type="button" class="primary" onClick={send}>
            Yes, {labels.label.toLowerCase()}
          </button>
          <Button label="Cancel" onClick={() => dialog.current?.close()} />
        </div>
      </div>
    </dialog>
  );
}

/** Longer than any comment, so the preview is always complete. */
const MAX_LENGTH = 200_000;

function CommentPreview(
  props: Readonly<{ preview: Preview; isRequested: boolean; refusal: Refusal<DecisionField> | null }>,
) {
  const { preview, isRequested, refusal } = props;
  return (
    <section class="comment-preview" aria-label="Comment">
      <h3>Comment to be delivered</h3>
      <p class="dim" role="status">
        {describeState(preview, isRequested, refusal)}
      </p>
      <pre class={preview.isCurrent ? '' : 'old'} aria-busy={isRequested && !preview.isCurrent}>
        {preview.comment === null ? null : <SafeText text={preview.comment} limit={MAX_LENGTH} />}
      </pre>
    </section>
  );
}

function describeState({ isCurrent }: Preview, isRequested: boolean, refusal: Refusal<DecisionField> | null): string {
  if (!isRequested) return 'Fill in the fields above to see the comment.';
  if (isCurrent) return 'Exactly as it will be delivered.';
  if (refusal === null) return 'Loading …';
  return refusal.message === null ? 'Correct the marked fields above.' : `Not available: ${refusal.message}`;
}

type Preview = Readonly<{ comment: string | null; isCurrent: boolean; error: unknown }>;
const DEBOUNCE_MS = 300;
/** How often to retry while the server is unreachable, so the preview appears once it responds. */
const RETRY_MS = 2000;

/** Loads the comment from the server whenever the decision changes; null loads nothing. */
function usePreview(id: string, body: ResolveBody | null): Preview {
  const loaded = useSignal<Readonly<{ key: string; comment: string }> | null>(null);
  const refusal = useSignal<Readonly<{ key: string; error: unknown }> | null>(null);
  const key = body === null ? '' : JSON.stringify([id, body]);
  useEffect(() => {
    if (body === null) return;
    const control = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const load = async (): Promise<void> => {
      try {
        const { comment } = await client.previewResolution({ id, body, signal: control.signal });
        if (control.signal.aborted) return;
        loaded.value = { key, comment };
        refusal.value = null;
      } catch (error) {
        if (control.signal.aborted) return;
        refusal.value = { key, error };
        const isUnavailable = error instanceof ClientError && (error.status === null || error.status >= 500);
        if (isUnavailable) timer = setTimeout(() => void load(), RETRY_MS);
      }
    };
    timer = setTimeout(() => void load(), DEBOUNCE_MS);
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [key]);
  return {
    comment: loaded.value?.comment ?? null,
    isCurrent: loaded.value?.key === key,
    error: refusal.value?.key === key ? refusal.value.error : null,
  };
}

/** Fields to edit a result individually or as JSON. */
function ResultFields({
  item,
  ...form
}: FormPart<DecisionFields> & { readonly item: Readonly<{ issue_ref: string; run_id: string }> }) {
  const { fields, edit } = form;
  const { text, area, select, radio } = bindFields(form, 'result-');
  const line = (name: 'pr' | 'commit' | 'testCommand' | 'testEvidence', label: string, help: string) =>
    text(name, label, help, { spellcheck: false });
  const toJson = (): void => edit({ view: 'json', json: formatResult(buildResult(fields, item)) });
  const toFields = (): void => {
    const parsed = parseResult(fields.json);
    edit({ view: 'fields', ...('result' in parsed ? fillResultForm(parsed.result) : {}) });
  };
  return (
    <fieldset class="result-fields stack">
      <legend>Result</legend>
      <div class="row">
        <span class="dim">
          For {item.issue_ref}, run {item.run_id}. The status is always ok: no other status can be accepted.
        </span>
        <Button
          label={fields.view === 'json' ? 'Edit as fields' : 'Edit as JSON'}
          class="link end"
          onClick={fields.view === 'json' ? toFields : toJson}
        />
      </div>
      {fields.view === 'json' ? (
        area('json', 'Work result', 'Keys may be written as run_id or RunId.', {
          class: 'mono',
          rows: 16,
          spellcheck: false,
        })
      ) : (
        <>
          {area('summary', 'Summary', 'What was done and why.', { rows: 4 })}
          <div class="pair">
            {line('pr', 'Pull request', 'URL or number. A pull request or a commit is required.')}
            {line('commit', 'Commit', 'Hash in the order’s repository.')}
          </div>
          {radio('tests', 'Tests', [
            ['report', 'Tests were run', 'Enter the command, the result and the evidence.'],
            ['n/a', 'No tests', 'Recorded as n/a (not applicable).'],
          ])}
          {fields.tests === 'n/a' ? null : (
            <div class="pair">
              {line('testCommand', 'Command', 'The command that was run.')}
              {select('testResult', 'Test result', 'The outcome of the tests.', [
                ...(fields.testResult === '' ? [{ value: '', label: 'Choose' }] : []),
                { value: 'pass', label: 'Pass' },
                { value: 'fail', label: 'Fail' },
                { value: 'n/a', label: 'Not applicable' },
              ])}
              {line('testEvidence', 'Evidence', 'For example a count, a log or a URL.')}
            </div>
          )}
          {area('questions', 'Open questions', 'Optional. One per line.', { rows: 2 })}
        </>
      )}
    </fieldset>
  );
}
