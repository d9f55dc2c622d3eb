import { getErrorMessage, isSluiceError, truncate } from '../base/index.js';
import type { FcmpData, FcmpEvent } from '../events/index.js';
import type { RunReply } from '../store/records/index.js';
import { chooseOption, type Run } from '../runs/index.js';
import type { CommandIo } from './command-io.js';
import { formatLine, makeVisible } from './terminal-text.js';

interface OpenQuestion {
  readonly id: string;
  parse(line: string): { readonly reply: RunReply } | { readonly problem: string };
  /** Called when there is no more input. */
  cancel(): Promise<void>;
}

/** Answers a run's questions from standard input, which is opened with the first question. */
export function answerQuestions(run: Run, io: CommandIo) {
  let openQuestions: OpenQuestion[] = [];
  let stdin: ReturnType<CommandIo['openStdin']> | undefined;
  let replies: AsyncGenerator<string, undefined> | undefined;
  let isReading = false;

  async function readLines(): Promise<void> {
    try {
      while (openQuestions.length > 0) {
        replies ??= readReplies((stdin ??= io.openStdin()));
        const { value: line } = await replies.next();
        // Rules can answer questions while the user types: the line belongs to the oldest question that is still open.
        const [question] = openQuestions;
        if (question === undefined) return;
        if (line === undefined) {
          await question.cancel();
          remove(question);
        } else await answer(question, line);
      }
    } finally {
      // In the same turn as the last check of `open`, so the next question starts reading again.
      isReading = false;
    }
  }

  async function answer(question: OpenQuestion, line: string): Promise<void> {
    const parsed = question.parse(line);
    if ('problem' in parsed) return io.stderr.write(formatLine(parsed.problem));
    try {
      await run.reply(parsed.reply);
      remove(question);
    } catch (error) {
      if (!isSluiceError(error)) throw error;
      // A rule or a time limit might have just answered the question; the next line is for the next question.
      if (error.code === 'REPLY_NOT_EXPECTED') remove(question);
      else if (error.code !== 'INVALID_REPLY') throw error;
      await io.stderr.write(formatLine(error.message));
    }
  }

  function remove(question: OpenQuestion): void {
    openQuestions = openQuestions.filter((other) => other !== question);
  }

  function add(question: OpenQuestion): void {
    openQuestions.push(question);
    if (isReading) return;
    isReading = true;
    // Not awaited: the run can end before a reply is typed.
    readLines().catch(async (error: unknown) => cancelRun(error).catch(() => undefined));
  }

  /** Cancels the run after an error that prevents a reply, because the run would wait for the reply. */
  async function cancelRun(error: unknown): Promise<void> {
    await run.cancel();
    const reason = getErrorMessage(error).replace(/\.$/, '');
    await io.stderr.write(
      formatLine(`Cannot pass the reply to the run: ${reason}. The run is canceled; start it again.`),
    );
  }

  return {
    /** Must be called with each of the run's events. */
    onEvent(event: FcmpEvent) {
      if (event.type === 'user.input.required') {
        if (event.data.answerable === false) return;
        // No reply is possible after the end of the input, so the run is canceled.
        add({
          id: event.data.interaction_id,
          parse: (reply) => ({ reply }),
          cancel: async () => run.cancel(),
        });
      } else if (event.type === 'permission.required') add(createPermissionQuestion(event.data, run));
      else if (event.type === 'permission.replied') {
        const { interaction_id: id } = event.data;
        openQuestions = openQuestions.filter((question) => question.id !== id);
      }
    },
    close: (): void => stdin?.close?.(),
  };
}

/** A permission request is answered with yes, no, or the number of an option, and denied if standard input is closed. */
function createPermissionQuestion(
  { interaction_id, options }: FcmpData<'permission.required'>,
  run: Run,
): OpenQuestion {
  const choices = options.map(({ label }, index) => `${index + 1} ${label}`).join(', ');
  const denial = chooseOption(options, 'deny');
  return {
    id: interaction_id,
    parse(line) {
      const input = line.trim().toLowerCase();
      const decision = input === 'y' || input === 'yes' ? 'allow' : input === 'n' || input === 'no' ? 'deny' : null;
      const option = decision === null ? options[Number(input) - 1] : chooseOption(options, decision);
      if (option === null || option === undefined) return { problem: `Answer yes, no, or a number: ${choices}.` };
      return { reply: { interaction_id, option_id: option.id } };
    },
    async cancel() {
      if (denial === null) return run.cancel();
      const reason = 'standard input is closed, so the question cannot be answered';
      await run.reply({ interaction_id, option_id: denial.id, why: reason }).catch((error: unknown) => {
        // A rule might have answered meanwhile.
        if (!isSluiceError(error) || error.code !== 'REPLY_NOT_EXPECTED') throw error;
      });
    },
  };
}

/** A longer line is returned in parts; typed replies are far shorter. */
const MAX_LINE = 1024 * 1024;

/** Reads standard input line by line, on demand. */
export async function* readReplies(stdin: AsyncIterable<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let pending = '';
  try {
    for await (const chunk of stdin) {
      const lines = `${pending}${decoder.decode(chunk, { stream: true })}`.split('\n');
      pending = lines.pop() ?? '';
      for (const line of lines) yield line.replace(/\r$/, '');
      if (pending.length <= MAX_LINE) continue;
      yield pending;
      pending = '';
    }
  } catch {
    // An error, such as a closed terminal, counts as the end of the input.
  }
  if (pending !== '') yield pending;
  return undefined;
}

/**
 * The number of characters remembered per message. Any text after them is printed a second time when the message is
 * complete.
 */
const MAX_REMEMBERED = 1024 * 1024;

/**
 * Creates a printer that shows messages as they arrive. When a message is complete, only the missing part is added; a
 * final message that differs from the printed text is printed again.
 */
export function createEventPrinter() {
  let openMessage: { readonly id: string; shown: string } | null = null;
  let isLineOpen = false;

  function show(text: string): string {
    const visible = makeVisible(text);
    if (visible === '') return '';
    isLineOpen = !visible.endsWith('\n');
    return visible;
  }

  function endLine(): string {
    const end = isLineOpen ? '\n' : '';
    isLineOpen = false;
    return end;
  }

  return {
    /** Formats the next event; empty for events that are not meant for users. */
    format(event: FcmpEvent): string {
      if (event.type === 'assistant.message.delta') {
        const { message_id: id, text } = event.data;
        const begin = openMessage?.id === id ? '' : endLine();
        openMessage = { id, shown: openMessage?.id === id ? openMessage.shown : '' };
        if (openMessage.shown.length <= MAX_REMEMBERED) openMessage.shown += text;
        return begin + show(text);
      }
      if (event.type === 'assistant.message.final' && openMessage?.id === event.data.message_id) {
        const { shown } = openMessage;
        openMessage = null;
        const { text } = event.data;
        if (text.startsWith(shown)) return show(text.slice(shown.length).trimEnd()) + endLine();
      }
      return endLine() + describeEvent(event);
    },
  };
}

/** The maximum number of characters shown of a tool's input or error, a thought or a plan. */
const MAX_SHOWN = 160;

/** Describes an event in one or more lines, for a terminal; empty for events that are not meant for users. */
export function describeEvent(event: FcmpEvent): string {
  const text = describe(event);
  return text === '' ? '' : `${makeVisible(text).trimEnd()}\n`;
}

const PLAN_MARKS = { pending: '[ ]', in_progress: '[~]', completed: '[x]' } as const;

function describe(event: FcmpEvent): string {
  switch (event.type) {
    case 'conversation.started':
      return event.data.session_id === null ? '' : `● ${event.engine}, session ${event.data.session_id}`;
    case 'assistant.message.final':
      return event.data.text;
    case 'assistant.reasoning':
      // A later event contains the complete text.
      return event.data.partial === true ? '' : `… ${toOneLine(event.data.text)}`;
    case 'assistant.tool_call':
      return describeToolCall(event.data);
    case 'user.input.required':
      // The prompt is the agent's last message, which was already printed.
      return event.data.answerable === false ? '' : `? ${event.data.prompt}`;
    case 'user.input.replied':
    case 'user.message':
    case 'conversation.status':
      return '';
    case 'permission.required':
      return describePermission(event.data);
    case 'permission.replied':
      return `${event.data.decision === 'allow' ? '✓ allowed' : '✗ denied'} by ${event.data.who ?? event.data.by}`;
    case 'assistant.plan':
      return event.data.entries.map(({ content, status }) => `${PLAN_MARKS[status]} ${toOneLine(content)}`).join('\n');
    case 'artifact.created':
      return `+ ${event.data.path}`;
    case 'artifact.modified':
      return `~ ${event.data.path}`;
    case 'artifact.deleted':
      return `- ${event.data.path}`;
    case 'diagnostic.warning':
      return `! ${event.data.code}: ${event.data.message}`;
    case 'conversation.completed':
      return `■ completed: ${event.data.reason_code}`;
    case 'conversation.failed':
      return `■ failed: ${event.data.error.code}: ${event.data.error.message}`;
    case 'raw.stdout':
    case 'raw.stderr':
      return event.data.text;
    // The final message contains the text.
    case 'assistant.message.delta':
      return '';
  }
}

function describePermission({ tool, input, diff = [], options }: FcmpData<'permission.required'>): string {
  const files = diff.map(({ path }) => `\n  changes ${path}`).join('');
  const choices = options.map(({ label }, index) => `${index + 1} ${label}`).join(', ');
  return `? Allow ${tool} ${toOneLine(JSON.stringify(input))}${files}\n  yes, no, or: ${choices}`;
}

function describeToolCall({ name, status, input, error }: FcmpData<'assistant.tool_call'>): string {
  switch (status) {
    case 'started':
      return `→ ${name}${input === undefined ? '' : ` ${toOneLine(JSON.stringify(input))}`}`;
    case 'completed':
      return `✓ ${name}`;
    case 'failed':
      return `✗ ${name}${error === undefined ? '' : `: ${toOneLine(error)}`}`;
  }
}

function toOneLine(text: string): string {
  return truncate(text.replaceAll(/\s+/g, ' ').trim(), MAX_SHOWN);
}
