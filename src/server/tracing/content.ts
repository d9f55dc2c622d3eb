import { cutText } from '../../base/index.js';

/** The maximum length of recorded text: collectors reject large attributes, and the run stores the full text. */
const MAX_LENGTH = 8192;

/** Formats a value as text, shortened. */
export function describeContent(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length <= MAX_LENGTH ? text : `${cutText(text, MAX_LENGTH)}…`;
}

/** Formats a shortened message according to OpenTelemetry's conventions for generative AI. */
export function describeMessage(role: 'user' | 'assistant', text: string): string {
  return JSON.stringify([{ role, parts: [{ type: 'text', content: describeContent(text) }] }]);
}
