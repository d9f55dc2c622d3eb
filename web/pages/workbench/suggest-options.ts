import { parse } from '../../../src/json/index.js';
import type { AlignableSchema, ParseResult } from '../../../src/json/index.js';
import { toParseOptions } from './inspect.js';
import type { WorkbenchOptions } from './inspection.js';

/** An option change that would lead to a value, or to a different one. */
export interface Suggestion {
  readonly label: string;
  readonly help: string;
  readonly changes: Partial<WorkbenchOptions>;
}

/** Longer input gets no suggestions, because each is verified by parsing the input again. */
const MAX_TRIED_LENGTH = 200_000;

const PARTIAL: Suggestion = {
  label: 'Allow partial',
  help: 'The output was cut off; the part before the cut is valid.',
  changes: { allowPartial: true },
};
const ALIGN: Suggestion = {
  label: 'Align',
  help: 'The value matches the schema after small corrections. Each correction is listed.',
  changes: { align: true },
};
const BOTH: Suggestion = {
  label: 'Allow partial and align',
  help: 'The part before the cut matches the schema after small corrections.',
  changes: { allowPartial: true, align: true },
};
const LAST: Suggestion = {
  label: 'Prefer last',
  help: 'A later candidate also matches.',
  changes: { prefer: 'last' },
};
const PROFILE: Suggestion = {
  label: 'Default profile',
  help: 'The default profile searches the whole output and repairs syntax.',
  changes: { profile: 'default' },
};

/**
 * Finds helpful option changes by parsing the input with each of them. After a failure, these are the changes that lead
 * to a value; after a success with multiple matching candidates, the change that selects another candidate.
 *
 * @example
 * suggestOptions('{"a": [1, 2', undefined, options, result) // [{ label: 'Allow partial', … }]
 */
export function suggestOptions(
  text: string,
  schema: AlignableSchema | undefined,
  options: WorkbenchOptions,
  result: ParseResult<unknown>,
): readonly Suggestion[] {
  if (text.length > MAX_TRIED_LENGTH) return [];
  const helps = ({ changes }: Suggestion): boolean => {
    const next = { ...options, ...changes };
    if (JSON.stringify(next) === JSON.stringify(options)) return false;
    return parse(text, schema, toParseOptions(next, schema)).ok;
  };
  if (result.ok) {
    const isAmbiguous = result.warnings.some(({ code }) => code === 'AMBIGUOUS_CANDIDATES');
    return isAmbiguous && helps(LAST) ? [LAST] : [];
  }
  const single = [PARTIAL, ...(schema === undefined ? [] : [ALIGN]), LAST, PROFILE].filter(helps);
  return single.length > 0 || schema === undefined ? single : [BOTH].filter(helps);
}
