import type { FcmpData, FcmpEvent } from '../events/index.js';
import { visibleText } from './visible-text.js';

/** A tool's input or output is a glance here, not the whole. */
const GLANCE = 160;

/**
 * Tells one event of a conversation in a line or more, for a person at a terminal; empty for what only programs need.
 *
 * @example
 * tellEvent(event) // '→ shell {"command":"npm test"}\n'
 */
export function tellEvent(event: FcmpEvent): string {
  const said = wordsFor(event);
  return said === '' ? '' : `${visibleText(said).trimEnd()}\n`;
}

function wordsFor(event: FcmpEvent): string {
  switch (event.type) {
    case 'conversation.started':
      return `● ${event.engine}${event.data.session_id === null ? '' : `, session ${event.data.session_id}`}`;
    case 'assistant.message.final':
      return event.data.text;
    case 'assistant.reasoning':
      // The whole thought follows its pieces.
      return event.data.partial === true ? '' : `… ${glance(event.data.text)}`;
    case 'assistant.tool_call':
      return tellToolCall(event.data);
    case 'user.input.required':
      return `? ${event.data.prompt}`;
    case 'user.input.replied':
      return '';
    case 'artifact.created':
      return `+ ${event.data.path}`;
    case 'diagnostic.warning':
      return `! ${event.data.code}: ${event.data.message}`;
    case 'conversation.completed':
      return `■ completed: ${event.data.reason_code}`;
    case 'conversation.failed':
      return `■ failed: ${event.data.error.code}: ${event.data.error.message}`;
    case 'raw.stdout':
    case 'raw.stderr':
      return event.data.text;
    // The final message follows and says the same.
    case 'assistant.message.delta':
      return '';
  }
}

function tellToolCall({ name, status, input, error }: FcmpData<'assistant.tool_call'>): string {
  switch (status) {
    case 'started':
      return `→ ${name}${input === undefined ? '' : ` ${glance(JSON.stringify(input))}`}`;
    case 'completed':
      return `✓ ${name}`;
    case 'failed':
      return `✗ ${name}${error === undefined ? '' : `: ${glance(error)}`}`;
  }
}

function glance(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > GLANCE ? `${line.slice(0, GLANCE)}…` : line;
}
