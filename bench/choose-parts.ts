import { parseArgs } from 'node:util';
import { describeWrongArgument } from '../scripts/read-arguments.js';

/** The parts to measure, or why the arguments are invalid. */
export type Choice = { readonly parts: readonly string[] } | { readonly problem: string };

/**
 * Reads the names of the parts from the arguments; without `--only`, the default parts are measured.
 *
 * @example
 * chooseParts(['--only', 'a,b'], ['a', 'b', 'c'], ['c']) // { parts: ['a', 'b'] }
 */
export function chooseParts(args: readonly string[], known: readonly string[], defaults: readonly string[]): Choice {
  let only: string | undefined;
  try {
    ({ only } = parseArgs({ args: [...args], options: { only: { type: 'string' } } }).values);
  } catch (error) {
    return { problem: `${describeWrongArgument(error)}; usage: npm run bench [-- --only a,b]` };
  }
  const parts = only?.split(',') ?? defaults;
  const unknown = parts.filter((part) => !known.includes(part));
  if (unknown.length === 0) return { parts };
  const names = unknown.map((name) => `"${name}"`).join(', ');
  return { problem: `Unknown part ${names}. The parts are ${known.join(', ')}.` };
}
