import { JsonPosition } from './json-position.js';
import type { Region } from './region.js';

const MARKER = /<\|(start|channel|message|end|return|call|constrain)\|>/g;

/**
 * The regions of a text in the harmony format that may hold the answer: the messages of the final channel; without one,
 * those of the commentary channel. The analysis channel is thinking.
 */
export function harmonyRegions(text: string): readonly Region[] {
  const channels = new Map<string, Region[]>();
  const position = new JsonPosition(text);
  let channel = '';
  let opened: number | undefined;
  let namedFrom: number | undefined;
  const close = (end: number): void => {
    if (opened !== undefined) channels.set(channel, [...(channels.get(channel) ?? []), { start: opened, end }]);
    opened = undefined;
  };
  for (const match of text.matchAll(MARKER)) {
    if (position.isInString(match.index)) continue;
    const end = match.index + match[0].length;
    if (namedFrom !== undefined) channel = /^\w*/.exec(text.slice(namedFrom, match.index).trim())?.[0] ?? '';
    namedFrom = match[1] === 'channel' ? end : undefined;
    close(match.index);
    if (match[1] === 'message') opened = end;
    position.skipTo(end);
  }
  close(text.length);
  return channels.get('final') ?? channels.get('commentary') ?? [];
}
