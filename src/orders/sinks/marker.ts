import type { NewOutboxMessage } from '../../records/index.js';

const OPENING = '<!-- sluice:';

/**
 * The hidden line by which a message is found again. The id in it cannot be guessed before it was published, so nobody
 * can keep a comment back by writing its marker first.
 *
 * @example
 * markerOf(message) // '<!-- sluice:workrun:2026-11-15-backend-0001 01KA3… -->'
 */
export function markerOf({ trigger, id }: Pick<NewOutboxMessage, 'trigger' | 'id'>): string {
  return `${OPENING}${trigger} ${id} -->`;
}

/** The body with its marker as the last line; markers that the text itself brought along are taken apart. */
export function withMarker(message: NewOutboxMessage): string {
  const body = message.body.replaceAll(OPENING, '<!- sluice:').trimEnd();
  return `${body}\n\n${markerOf(message)}`;
}
