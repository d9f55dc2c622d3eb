import { truncate } from '../base/index.js';
import type { FcmpEvent, FcmpData } from '../events/index.js';
import { makeVisible } from './terminal-text.js';

/** Formats a run's events for a terminal. */
interface EventPrinter {
  /** Formats the next event; empty for events that are not meant for users. */
  format(event: FcmpEvent): string;
}

/** The message that is being printed. */
interface OpenMessage {
  readonly id: string;
  shown: string;
}

/**
 * The number of characters remembered per message. Any text after them is printed a second time when the message is
 * complete.
 */
const MAX_REMEMBERED = 1024 * 1024;

/**
 * Creates a printer that shows messages as they arrive. When a message is complete, only the missing part is added; a
 * final message that differs from the printed text is printed again.
 *
 * @example
 * const printer = createEventPrinter()
 * for await (const { event } of run.events) process.stderr.write(printer.format(event))
 */
export function createEventPrinter(): EventPrinter {
  let openMessage: OpenMessage | null = null;
  let isLineOpen = false;

  function show(text: string): string {
    const visible = makeVisible(text);
    if (visible === '') return '';
    isLineOpen = !visible.endsWith('\n');
    return visible;
  }

  /** Ends the current line, if any. */
  function endLine(): string {
    const end = isLineOpen ? '\n' : '';
    isLineOpen = false;
    return end;
  }

  return {
    format(event) {
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

/**
 * Describes an event in one or more lines, for a terminal; empty for events that are not meant for users.
 *
 * @example
 * describeEvent(event) // '→ shell {"command":"npm test"}\n'
 */
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
