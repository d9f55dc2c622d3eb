import { showLine, showText } from '../plain-text.js';

// A forge takes 65,536 characters a comment. The longest comment has about sixty lines and one quote.
const LINE_LENGTH = 500;
const QUOTE_LENGTH = 16_000;

/** Text of any origin as one line of a comment. */
export function inline(text: string): string {
  return escapeMarkup(showLine(text, LINE_LENGTH));
}

/** A value as one line, `none` if there is no value. */
export function none(value: string | undefined): string {
  const line = inline(value ?? '');
  return line === '' ? 'none' : line;
}

/** A worker's own words as a quote: each line is marked, so that none of them can look like a header or a section. */
export function quote(text: string): string {
  const shown = escapeMarkup(showText(text.trim(), QUOTE_LENGTH));
  if (shown === '') return '';
  return shown
    .split('\n')
    .map((line) => (line.trim() === '' ? '>' : `> ${line}`))
    .join('\n');
}

/** Tags would be taken as HTML, and a hidden comment could pass for the marker of a delivery. */
function escapeMarkup(text: string): string {
  return text.replaceAll(/<(?=[A-Za-z/!?])/g, '&lt;');
}
