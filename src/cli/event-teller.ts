import type { FcmpEvent } from '../events/index.js';
import { tellEvent } from './tell-event.js';
import { visibleText } from './visible-text.js';

/** Tells the events of one run to a person, in the order in which they come. */
export interface EventTeller {
  /** What is to be shown for the next event; empty for what only programs need. */
  tell(event: FcmpEvent): string;
}

/** What has been shown of the message that is being written. */
interface OpenMessage {
  readonly id: string;
  shown: string;
}

/** Of longer messages the rest is shown once more at their end, so that not all of it has to be remembered. */
const MOST_REMEMBERED = 1024 * 1024;

/**
 * Makes a teller that shows a message while it is written. When it is whole, only what is missing is added; a message
 * that in the end is another than was shown is shown once more.
 *
 * @example
 * const teller = createEventTeller()
 * for await (const { event } of run.events) process.stderr.write(teller.tell(event))
 */
export function createEventTeller(): EventTeller {
  let open: OpenMessage | null = null;
  let isLineOpen = false;

  function show(text: string): string {
    const visible = visibleText(text);
    if (visible === '') return '';
    isLineOpen = !visible.endsWith('\n');
    return visible;
  }

  /** Begins a line of its own. */
  function endLine(): string {
    const end = isLineOpen ? '\n' : '';
    isLineOpen = false;
    return end;
  }

  return {
    tell(event) {
      if (event.type === 'assistant.message.delta') {
        const { message_id: id, text } = event.data;
        const begin = open?.id === id ? '' : endLine();
        open = { id, shown: open?.id === id ? open.shown : '' };
        if (open.shown.length <= MOST_REMEMBERED) open.shown += text;
        return begin + show(text);
      }
      if (event.type === 'assistant.message.final' && open?.id === event.data.message_id) {
        const { shown } = open;
        open = null;
        const { text } = event.data;
        if (text.startsWith(shown)) return show(text.slice(shown.length).trimEnd()) + endLine();
      }
      return endLine() + tellEvent(event);
    },
  };
}
