import { parse } from '../../json/index.js';

/** Longest text that is read as JSON a second time. */
const LONGEST = 1_000_000;
const FINDERS = new Set(['whole', 'fence']);

/** Reads a string that is an object or a list as a whole, fenced or not; one that has JSON somewhere in it is left alone. */
export function readJsonText(text: string): unknown {
  if (text.length > LONGEST || !/^\s*(?:[[{]|```[^]*```\s*$)/.test(text)) return undefined;
  const result = parse(text);
  return result.ok && FINDERS.has(result.candidate.finder) ? result.value : undefined;
}
