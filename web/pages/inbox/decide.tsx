import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { InboxItem } from '../../../src/server/api/index.js';
import { hasScope, isLocal, session } from '../../app/session.js';
import { client } from '../../data/client.js';
import { bindFields, submitByKey, type FormPart, readRefusal, type Refusal } from '../../ui/form.js';
import { Notice, ReadOnly, Button } from '../../ui/parts.js';
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
  buildResult,
} from './decision.js';
import type { DecisionField, ResolutionAction, ResolveBody, LineComment, DecisionFields } from './decision.js';
import { SafeText } from '../../ui/text.js';
import { ClientError } from '../../../src/server/client/index.js';
import { delayAction, findDecisionObstacle, findDelayed } from '../../data/delayed-actions.js';
import { findEntry, loadWaiting, waiting } from '../../data/waiting.js';
import { t } from './texts.js';

/** The decision: the result to edit, the comment exactly as it will be delivered, and a bar that is always visible. */
export function Decide(props: {
  readonly item: InboxItem;
  readonly comments: readonly LineComment[];
  readonly reload: () => void;
  readonly onDecided: () => void;
  readonly onSent: () => void;
}) {
  const { item, comments, reload } = props;
  const { fields, change, discard } = useDraft(`inbox ${item.id}`, {
    ...EMPTY_DECISION,
    ...fillResultForm(item.reading.result ?? item.reading.draft),
  });
  const name = useDraft('who', { who: '' });
  const decision = readDecision(fields, item, isLocal() ? name.fields.who : '', comments);
  const preview = usePreview(item.id, item.resolution === null ? decision.body : null);
  const wasSubmitted = useSignal(false);
  /** Whether to decide as soon as the comment is known. */
  const isSubmitting = useSignal(false);
  const form = useRef<HTMLFormElement>(null);

  const action = findAction(fields);
  const labels = action === null ? undefined : t.actions[action];
  const { isPending } = findDelayed(item.id);
  const edit = (changes: Partial<typeof fields>): void => {
    change(changes);
    isSubmitting.value = false;
  };
  const isReady = isSubmitting.value && preview.isCurrent && !isPending;
  useEffect(() => {
    const { body } = decision;
    if (!isReady || body === null || labels === undefined) return;
    isSubmitting.value = false;
    delayAction({
      title: `${labels.label}: ${item.issue_ref}`,
      parts: [
        {
          id: item.id,
          entry: findEntry(item.id),
          send: async () => {
            await client.resolveItem({ id: item.id, body });
            discard();
            props.onSent();
          },
          findObstacle: async () => findDecisionObstacle(client, item.id),
        },
      ],
      isListed: () => waiting.value?.complete !== true || findEntry(item.id) !== undefined,
      onDone: () => {
        reload();
        void loadWaiting();
      },
    });
    props.onDecided();
  }, [isReady]);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (labels === undefined || isPending) return;
    wasSubmitted.value = true;
    isSubmitting.value = decision.body !== null;
    if (decision.body !== null) return;
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus());
  };

  if (item.resolution !== null && fields.why.trim() === '') return null;
  if (item.resolution !== null) {
    return (
      <Notice tone="plain" title={t.alreadySettled} action={{ label: t.discardDraft, run: discard }}>
        {t.theDecisionIsShownAbove}
        <q>{fields.why}</q>
      </Notice>
    );
  }
  if (!hasScope('decide')) return <ReadOnly scope="decide" purpose={t.settleItems} />;
  const refusal =
    preview.error === null ? null : readRefusal<DecisionField>(preview.error, { paths: RESULT_PATHS, codes: {} });
  const errors = {
    ...refusal?.errors,
    ...(wasSubmitted.value ? decision.errors : {}),
    // A syntax error is reported while typing, other errors after the first submit.
    ...(decision.errors.json === undefined ? {} : { json: decision.errors.json }),
  };
  return (
    <form ref={form} class="decide-form" noValidate aria-label={t.decide} onSubmit={submit} onKeyDown={submitByKey}>
      {labels === undefined ? null : (
        <div class="card stack decide">
          <p>{labels.explain(item.issue_ref)}</p>
          {action === 'edit' ? <ResultFields item={item} fields={fields} errors={errors} edit={edit} /> : null}
          {isLocal() ? (
            bindFields({ fields: name.fields, errors: {}, edit: name.change }).text(
              'who',
              t.yourName,
              t.thisServerHasNoTokens,
              { maxLength: 200, autocomplete: 'name' },
            )
          ) : (
            <p class="dim">{t.decidedBy(session.value.state === 'signed-in' ? session.value.name : t.you)}</p>
          )}
          <CommentPreview preview={preview} isRequested={decision.body !== null} refusal={refusal} />
        </div>
      )}
      <DecideBar
        item={item}
        action={action}
        why={fields.why}
        isMissing={wasSubmitted.value && fields.why.trim() === ''}
        state={isPending ? 'pending' : isSubmitting.value && refusal === null ? 'submitting' : 'open'}
        edit={edit}
      />
    </form>
  );
}

const ACTION_KEYS: Readonly<Record<ResolutionAction, string>> = {
  accept: 'a',
  edit: 'e',
  retry: 't',
  reject: 'r',
};

/** The actions with their shortcuts, the reason and the button, always visible. Choosing an action moves the focus to the reason. */
function DecideBar(props: {
  readonly item: InboxItem;
  readonly action: ResolutionAction | null;
  readonly why: string;
  readonly isMissing: boolean;
  readonly state: 'open' | 'submitting' | 'pending';
  readonly edit: (changes: { action?: string; why?: string }) => void;
}) {
  const { item, action: chosenAction, why, isMissing, state, edit } = props;
  const reason = useRef<HTMLInputElement>(null);
  const offered = ACTIONS.filter((action) => action !== 'accept' || isAcceptable(item.reading, item));
  const choose = (action: ResolutionAction): void => {
    edit({ action });
    reason.current?.focus({ preventScroll: true });
  };
  useKeys(({ key }) => {
    const chosen = offered.find((action) => ACTION_KEYS[action] === key);
    if (chosen !== undefined) choose(chosen);
    return chosen !== undefined;
  });
  return (
    <div class="decide-bar" role="toolbar" aria-label={t.decide}>
      <span class="row decide-actions">
        {ACTIONS.map((action) => {
          const isOffered = offered.includes(action);
          return (
            <button
              key={action}
              type="button"
              class="toggle"
              aria-pressed={action === chosenAction}
              aria-keyshortcuts={ACTION_KEYS[action]}
              disabled={!isOffered}
              title={isOffered ? undefined : t.notAvailableThisRunHas}
              onClick={() => choose(action)}
            >
              {t.actions[action].label} <kbd aria-hidden="true">{ACTION_KEYS[action]}</kbd>
            </button>
          );
        })}
      </span>
      <span class="decide-send">
        <input
          ref={reason}
          id="why"
          type="text"
          aria-label={t.reason}
          aria-invalid={isMissing}
          placeholder={isMissing ? t.enterAReasonItIs : t.reasonQuotedInTheComment}
          maxLength={5000}
          autocomplete="off"
          value={why}
          onInput={({ currentTarget }) => edit({ why: currentTarget.value })}
        />
        <button type="submit" class="primary" disabled={chosenAction === null || state !== 'open'} title="Ctrl+Enter">
          {state === 'pending'
            ? t.notSentYet
            : state === 'submitting'
              ? t.loading
              : chosenAction === null
                ? t.chooseAnAction
                : t.actions[chosenAction].button}
        </button>
      </span>
    </div>
  );
}

/** Longer than any comment, so the preview is always complete. */
const MAX_LENGTH = 200_000;

function CommentPreview(
  props: Readonly<{ preview: Preview; isRequested: boolean; refusal: Refusal<DecisionField> | null }>,
) {
  const { preview, isRequested, refusal } = props;
  return (
    <section class="comment-preview" aria-label={t.states.comment}>
      <h3>{t.commentToBeDelivered}</h3>
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
  if (!isRequested) return t.fillInTheFieldsAbove;
  if (isCurrent) return t.exactlyAsItWillBe;
  if (refusal === null) return t.loading;
  return refusal.message === null ? t.correctTheMarkedFieldsAbove : t.notAvailable(refusal.message);
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

function ResultFields({
  item,
  ...form
}: FormPart<DecisionFields> & { readonly item: Readonly<{ issue_ref: string; run_id: string }> }) {
  const { fields, edit } = form;
  const { text, area, select, radio } = bindFields(form, 'result-');
  const line = (name: 'pr' | 'commit' | 'testCommand' | 'testEvidence', label: string, help: string) =>
    text(name, label, help, { spellcheck: false });
  const toJson = (): void => edit({ view: 'json', json: JSON.stringify(buildResult(fields, item), null, 2) });
  const toFields = (): void => {
    const parsed = parseResult(fields.json);
    edit({ view: 'fields', ...('result' in parsed ? fillResultForm(parsed.result) : {}) });
  };
  return (
    <fieldset class="result-fields stack">
      <legend>{t.states.result}</legend>
      <div class="row">
        <span class="dim">{t.resultOf(item.issue_ref, item.run_id)}</span>
        <Button
          label={fields.view === 'json' ? t.editAsFields : t.editAsJson}
          class="link end"
          onClick={fields.view === 'json' ? toFields : toJson}
        />
      </div>
      {fields.view === 'json' ? (
        area('json', t.workResult, t.keysMayBeWrittenAs, {
          class: 'mono',
          rows: 16,
          spellcheck: false,
        })
      ) : (
        <>
          {area('summary', t.summary, t.whatWasDoneAndWhy, { rows: 4 })}
          <div class="pair">
            {line('pr', t.claims.pr, t.urlOrNumberAPull)}
            {line('commit', t.claims.commit, t.hashInTheOrdersRepository)}
          </div>
          {radio('tests', t.claims.tests, [
            ['report', t.testsWereRun, t.enterTheCommandTheResult],
            ['n/a', t.noTests, t.recordedAsNANot],
          ])}
          {fields.tests === 'n/a' ? null : (
            <div class="pair">
              {line('testCommand', t.command, t.theCommandThatWasRun)}
              {select('testResult', t.testResult, t.theOutcomeOfTheTests, [
                ...(fields.testResult === '' ? [{ value: '', label: t.choose }] : []),
                { value: 'pass', label: t.pass },
                { value: 'fail', label: t.fail },
                { value: 'n/a', label: t.notApplicable },
              ])}
              {line('testEvidence', t.evidence, t.forExampleACountA)}
            </div>
          )}
          {area('questions', t.openQuestions, t.optionalOnePerLine, { rows: 2 })}
        </>
      )}
    </fieldset>
  );
}
