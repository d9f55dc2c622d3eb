import { parse } from '../../json/parse.js';

/** Longest text that is read as JSON a second time. */
const LONGEST = 1_000_000;

/** Reads a string that is an object or a list as a whole; one that merely has JSON somewhere in it is left alone. */
export function readJsonText(text: string): unknown {
  if (text.length > LONGEST || !/^\s*[[{]/.test(text)) return undefined;
  const result = parse(text);
  return result.ok && result.candidate.finder === 'whole' ? result.value : undefined;
}
