import { hasScope } from '../../app/session.js';
import { client } from '../../data/client.js';
import { findOpenQuestion, isReplaced, QUESTION_REPLACED, type OpenQuestion } from '../../data/read-question.js';
import { useAction } from '../../data/resource.js';
import { Markdown } from '../../ui/markdown.js';
import { SafeText } from '../../ui/safe-text.js';
import { useDraft } from '../../ui/use-draft.js';
import type { OpenRun } from './open-run.js';
import { JsonTree } from '../../ui/json-tree.js';
import { FileChanges, readFileChanges } from '../../ui/file-changes.js';
import './reply-box.css';

/** The form for answering a waiting agent; its question is announced without moving the focus. */
export function ReplyBox(props: Readonly<{ run: OpenRun; isEnded: boolean; isWaiting: boolean }>) {
  const { run, isEnded, isWaiting } = props;
  void run.redraws.page.value;
  const question = isEnded ? null : findOpenQuestion(run.data.conversation.events);
  return (
    <>
      <div class="visually-hidden" role="status">
        {question === null ? '' : <SafeText text={`The agent asks: ${question.prompt.slice(0, 300)}`} />}
      </div>
      {question === null && !isWaiting ? null : (
        <div class="reply-space">
          {question === null ? null : (
            <ReplyForm key={question.interactionId} id={run.id} question={question} isQuoted />
          )}
        </div>
      )}
    </>
  );
}

/** The draft of an answer, and its sending, after checking that the agent has not asked another question since. */
export function useReply(id: string, interactionId: string, onEnd: () => void = () => undefined) {
  const { fields, change, discard } = useDraft(`reply ${id} ${interactionId}`, { text: '' });
  const text = fields.text.trim();
  const { run, ...state } = useAction(async (optionId: string | null) => {
    try {
      if (await isReplaced(client, id, interactionId)) throw new Error(QUESTION_REPLACED);
      const why = text === '' ? {} : { why: text.slice(0, 2000) };
      const option = { interaction_id: interactionId, option_id: optionId ?? '', ...why };
      await client.replyToRun({ id, body: optionId === null ? { text: fields.text } : option });
      discard();
    } finally {
      onEnd();
    }
  });
  const send = (optionId: string | null): void => {
    if (optionId !== null || text !== '') run(optionId);
  };
  return { ...state, text: fields.text, isEmpty: text === '', send, write: (next: string) => change({ text: next }) };
}

/** The form that answers a question or a permission request. */
export function ReplyForm(props: {
  readonly id: string;
  readonly question: OpenQuestion;
  /** Shows the question above the answer, if the page does not show it elsewhere. */
  readonly isQuoted?: boolean;
  readonly onEnd?: () => void;
}) {
  const { id, question, isQuoted = false, onEnd } = props;
  const field = `reply-${id}`;
  const { text, isEmpty, isBusy, isDone, failure, send, write } = useReply(id, question.interactionId, onEnd);
  if (isDone) return <p class="reply-box dim">Answer sent. The run continues.</p>;
  if (!hasScope('run'))
    return (
      <p class="reply-box">
        The agent is waiting for an answer. Read-only: this token lacks the scope &quot;run&quot;.
      </p>
    );
  const { permission } = question;
  return (
    <form
      class="reply-box"
      onSubmit={(event) => {
        event.preventDefault();
        if (permission === undefined) send(null);
      }}
    >
      {isQuoted && permission === undefined ? (
        <div class="reply-question" tabIndex={0} role="group" aria-label="Question">
          <Markdown text={question.prompt} />
        </div>
      ) : null}
      {permission === undefined ? null : <PermissionRequest prompt={question.prompt} {...permission} />}
      <label for={field}>{permission === undefined ? 'Your answer' : 'Reason (optional)'}</label>
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
        aria-describedby={`${field}-help`}
        aria-invalid={failure !== null}
        onInput={({ currentTarget }) => write(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && permission === undefined) send(null);
        }}
      />
      <div class="row">
        {permission === undefined ? (
          <button type="submit" class="primary" disabled={isBusy || isEmpty}>
            Send answer
          </button>
        ) : (
          permission.options.slice(0, 10).map((option) => (
            <button key={option.id} type="button" disabled={isBusy} onClick={() => send(option.id)}>
              <SafeText text={option.label.slice(0, 60)} />
            </button>
          ))
        )}
        <span
          id={`${field}-help`}
          class={failure === null ? 'help' : 'wrong'}
          role={failure === null ? undefined : 'alert'}
        >
          {failure ??
            (permission === undefined
              ? 'The agent continues with your answer. Ctrl+Enter sends it.'
              : 'The agent is waiting for this permission. Without an answer, the request is denied.')}
        </span>
      </div>
    </form>
  );
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
        Allow <SafeText as="strong" text={tool} limit={200} />?
      </p>
      {command === null ? null : <SafeText as="pre" class="permission-command" text={command} limit={4000} />}
      <FileChanges changes={changes} />
      {command !== null || changes.length > 0 ? null : <JsonTree value={input} />}
    </div>
  );
}

function readCommand(input: unknown): string | null {
  if (typeof input !== 'object' || input === null || !('command' in input)) return null;
  const { command } = input;
  if (typeof command === 'string') return command;
  return Array.isArray(command) ? command.map(String).join(' ') : null;
}
