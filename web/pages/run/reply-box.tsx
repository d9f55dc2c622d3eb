import { hasScope } from '../../app/session.js';
import { client, getServerTime } from '../../data/client.js';
import { delayAction, findAnswerObstacle, findDelayed } from '../../data/delayed-actions.js';
import { isReplaced, type OpenQuestion } from '../../data/read-question.js';
import { useAction } from '../../data/resource.js';
import { findEntry, loadWaiting, waiting } from '../../data/waiting.js';
import { readCommand, readFileChanges } from '../../../src/base/index.js';
import { formatWait, Timestamp, SafeText } from '../../ui/text.js';
import { Refused } from '../../ui/parts.js';
import { Markdown } from '../../ui/markdown.js';
import { submitByKey } from '../../ui/form.js';
import { useDraft } from '../../ui/use-draft.js';
import { JsonTree } from '../../ui/json-tree.js';
import { FileChanges } from '../../ui/file-changes.js';
import './reply-box.css';
import { t } from './texts.js';

/** The draft of an answer, and its sending, after checking that the agent has not asked another question since. */
export function useReply(id: string, interactionId: string, onEnd: () => void = () => undefined) {
  const { fields, change, discard } = useDraft(`reply ${id} ${interactionId}`, { text: '' });
  const text = fields.text.trim();
  const { run, ...state } = useAction(async () => {
    try {
      if (await isReplaced(client, id, interactionId)) throw new Error(t.nothingWasSentTheAgent);
      await client.replyToRun({ id, body: { text: fields.text } });
      discard();
    } finally {
      onEnd();
    }
  });
  const send = (): void => {
    if (text !== '') run();
  };
  return {
    ...state,
    text: fields.text,
    isEmpty: text === '',
    send,
    discard,
    write: (next: string) => change({ text: next }),
  };
}

type PermissionOption = NonNullable<OpenQuestion['permission']>['options'][number];

/** Answers a permission request: a grant can be withdrawn for a few seconds before it is sent, a denial is sent at once. */
function answer(
  run: string,
  { interactionId, seq, permission }: OpenQuestion,
  option: PermissionOption,
  { why, onSent }: Readonly<{ why: string; onSent: () => void }>,
): void {
  const id = `${run}/${interactionId}`;
  const entry = findEntry(id);
  const isGrant = option.kind.startsWith('allow');
  const waits = entry?.kind === 'permission' ? [entry.held_until, entry.expires_at] : [];
  const body = { interaction_id: interactionId, option_id: option.id, ...(why === '' ? {} : { why }) };
  delayAction({
    title: (isGrant ? t.allowing : t.denying)(permission?.tool ?? t.theRequest),
    parts: [
      {
        id,
        entry,
        send: async () => client.replyToRun({ id: run, body }).then(onSent),
        findObstacle: async () => findAnswerObstacle(client, { run, interactionId, seq }),
      },
    ],
    isImmediate: !isGrant,
    endsAt: waits.map((at) => Date.parse(at)),
    isListed: () => entry === undefined || waiting.value === null || findEntry(id) !== undefined,
    onDone: () => void loadWaiting(),
  });
}

export function ReplyForm(props: {
  readonly id: string;
  readonly question: OpenQuestion;
  /** Shows the question above the answer, if the page does not show it elsewhere. */
  readonly isQuoted?: boolean;
  readonly onEnd?: () => void;
  /** Called as soon as the user has answered a permission request. */
  readonly onDecided?: () => void;
}) {
  const { id, question, isQuoted = false, onEnd } = props;
  const field = `reply-${id}`;
  const { text, isEmpty, isBusy, isDone, failure, send, write, discard } = useReply(id, question.interactionId, onEnd);
  if (isDone) return <p class="reply-box dim">{t.answerSentTheRunContinues}</p>;
  const { permission } = question;
  const scope = permission === undefined ? 'run' : 'decide';
  if (!hasScope(scope)) return <p class="reply-box">{t.readOnly(scope)}</p>;
  return (
    <form
      class="reply-box"
      onSubmit={(event) => {
        event.preventDefault();
        if (permission === undefined) send();
      }}
      onKeyDown={submitByKey}
    >
      {isQuoted && permission === undefined ? (
        <div class="reply-question" tabIndex={0} role="group" aria-label={t.states.question}>
          <Markdown text={question.prompt} />
        </div>
      ) : null}
      {permission === undefined ? null : <PermissionRequest prompt={question.prompt} {...permission} />}
      <label for={field}>{permission === undefined ? t.yourAnswer : t.reasonOptional}</label>
      {question.options.length === 0 ? null : (
        <div class="row">
          {question.options.slice(0, 10).map((option) => (
            <button key={option} type="button" onClick={() => write(option)}>
              <SafeText text={option.slice(0, 60)} />
            </button>
          ))}
        </div>
      )}
      <textarea
        id={field}
        rows={permission === undefined ? 2 : 1}
        value={text}
        maxLength={permission === undefined ? undefined : 2000}
        aria-describedby={`${field}-help`}
        aria-invalid={failure !== null}
        onInput={({ currentTarget }) => write(currentTarget.value)}
      />
      {permission === undefined ? (
        <div class="row">
          <button type="submit" class="primary" disabled={isBusy || isEmpty}>
            {t.sendAnswer}
          </button>
          <span
            id={`${field}-help`}
            class={failure === null ? 'help' : 'wrong'}
            role={failure === null ? undefined : 'alert'}
          >
            {failure ?? t.theAgentContinuesWithYour}
          </span>
        </div>
      ) : (
        <PermissionAnswer
          entryId={`${id}/${question.interactionId}`}
          permission={permission}
          helpId={`${field}-help`}
          onAnswer={(option) => {
            answer(id, question, option, { why: text.trim(), onSent: discard });
            props.onDecided?.();
          }}
        />
      )}
    </form>
  );
}

/** The options of a permission request. Without its content, which could not be loaded, it can only be denied. */
function PermissionAnswer(props: {
  readonly entryId: string;
  readonly permission: NonNullable<OpenQuestion['permission']>;
  readonly helpId: string;
  readonly onAnswer: (option: PermissionOption) => void;
}) {
  const { entryId, permission, helpId, onAnswer } = props;
  const { action, isPending } = findDelayed(entryId);
  const isKnown = permission.tool !== undefined;
  const entry = findEntry(entryId);
  return (
    <div class="row">
      {permission.options
        .filter(({ kind }) => isKnown || !kind.startsWith('allow'))
        .slice(0, 10)
        .map((option) => (
          <button
            key={option.id}
            type="button"
            class={option.kind === 'allow_once' ? 'primary' : ''}
            disabled={isPending}
            onClick={() => onAnswer(option)}
          >
            <SafeText text={labelOption(option)} />
          </button>
        ))}
      <span id={helpId} class="help">
        {isPending ? t.notSentYetYouCan : null}
        {!isPending && !isKnown ? t.theRequestCouldNotBe : null}
        {isPending || entry?.kind !== 'permission' ? null : (
          <>
            {t.withoutAnAnswerItIs}
            <Timestamp at={entry.expires_at} />
            {t.inTime(formatWait(Date.parse(entry.expires_at) - getServerTime()))}
          </>
        )}
      </span>
      <Refused why={action?.failures.find(({ id }) => id === entryId)?.message ?? null} />
    </div>
  );
}

/** Labels an option. The label comes from the agent, so it must not hide that the option applies from now on. */
function labelOption({ label, kind }: PermissionOption): string {
  const text = label.slice(0, 60);
  return kind.endsWith('always') && !/always/i.test(text) ? t.always(text) : text;
}

type PermissionProps = Partial<NonNullable<OpenQuestion['permission']>> & { readonly prompt: string };

/** The action an agent requests permission for: the command, the change or the tool input; without a tool, the prompt. */
function PermissionRequest({ prompt, tool, input, diff = [] }: PermissionProps) {
  if (tool === undefined) {
    return <SafeText as="p" class="permission-text" text={prompt.slice(0, 2000)} />;
  }
  const changes = readFileChanges(input, diff);
  const command = readCommand(input);
  return (
    <div class="permission-request">
      <p>
        <SafeText as="strong" text={t.allow(tool)} limit={200} />
      </p>
      {command === null ? null : <SafeText as="pre" class="permission-command" text={command} limit={4000} />}
      <FileChanges changes={changes} />
      {command === null && (changes.length === 0 || changes.some(({ isPartial }) => isPartial)) ? (
        <JsonTree value={input} />
      ) : null}
    </div>
  );
}
