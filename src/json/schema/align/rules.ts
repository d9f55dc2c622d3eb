import type { Allowance } from '../patterns/pattern.js';
import type { AlignmentChange, AlignmentSource, Path } from '../../index.js';
import type { DigitFinder } from '../text/source-digits.js';
import type { AlignmentView, Conjunction } from '../views/schema-views.js';

/**
 * Every rule, and the cost of applying it once. If multiple readings are possible the cheapest wins, so a cost
 * expresses how far a rule departs from the input: spelling 1, notation 2, shape 3 and more.
 */
export const RULE_COSTS = {
  /** A number in quotes. */
  number_text: 1,
  /** A number with a currency, percent sign, separators, magnitude or unit. */
  number_notation: 2,
  /** A boolean as a word, or as 0 or 1. */
  boolean_text: 2,
  /** A word for "no value" where null is allowed. */
  null_text: 2,
  /** A number or boolean where a string is expected. */
  scalar_to_text: 3,
  /** White space, quotes or brackets around a string. */
  trimmed: 1,
  /** A date in another notation. */
  date_notation: 2,
  /** An enum member or constant in another spelling. */
  enum_spelling: 1,
  /** An enum member with words around it. */
  enum_in_text: 3,
  /** Several enum members or numbers in one string where a list is expected. */
  text_to_list: 3,
  /** JSON in a string where an object or list is expected. */
  json_text: 1,
  /** Several values in the input where a list is expected. */
  values_to_list: 3,
  /** One item where a list is expected. */
  item_to_list: 3,
  /** A single-item list where its item is expected. */
  list_to_item: 3,
  /** An object inside another object that is not part of the schema. */
  unwrapped: 4,
  /** An object or list without the only key that can contain it. */
  wrapped: 5,
  /** A key in another spelling. */
  key_spelling: 1,
  /** A key that the schema forbids: it is dropped. */
  extra_key: 2,
  /** "No value" for a key that may be absent but not null: it is dropped. */
  null_as_absent: 1,
  /** Brackets that are superfluous, premature, wrong or missing. */
  loose_brackets: 6,
  /** Tuples, sets, and lists in lines. */
  loose_lists: 6,
  /** Text without quotes, up to the next known key. */
  loose_text: 6,
  /** Members without braces, as lines of `key: value`, a table or YAML, or with `=` or `=>` instead of the colon. */
  loose_members: 6,
  /** A scalar without the only key that can contain it. */
  lone_value: 6,
  /** The parameters of a tool call, in XML or as named arguments. */
  tool_call: 6,
  /** Elements of plain XML. */
  xml_elements: 6,
} as const;

/** The name of a rule in a change. */
export type AlignmentRule = keyof typeof RULE_COSTS;

/**
 * The cost of a key that the schema allows but does not list. The key is kept, but makes another alternative more
 * likely.
 */
export const UNKNOWN_KEY_COST = 2;

/** A value during alignment, with the changes made so far and their cost. */
export interface Outcome {
  readonly value: unknown;
  readonly changes: readonly AlignmentChange[];
  readonly cost: number;
}

/** Creates the outcome for an unchanged value. */
export function keepValue(value: unknown): Outcome {
  return { value, changes: [], cost: 0 };
}

/** Creates the outcome of one rule: the replacement value, and the change. */
export function createChange(path: Path, rule: AlignmentRule, from: unknown, to: unknown): Outcome {
  return { value: to, changes: [{ path, rule, from, to }], cost: RULE_COSTS[rule] };
}

/** Combines a change of shape with the changes made to its result. */
export function combineOutcomes(first: Outcome, second: Outcome): Outcome {
  return { value: second.value, changes: [...first.changes, ...second.changes], cost: first.cost + second.cost };
}

export interface ValueLocation {
  readonly path: Path;
  /** A list element is never turned into a list itself: `[[1], [2]]` and `[[1, 2]]` would be equally plausible. */
  readonly isElement: boolean;
}

/** The state of one alignment, shared by all rules. */
export interface AlignmentContext {
  /** Aligns a value to a view as far as the rules allow. */
  readonly align: (view: AlignmentView, value: unknown, location: ValueLocation) => Outcome;
  /** Whether a value is valid under a view. */
  readonly passes: (view: AlignmentView, value: unknown) => boolean;
  readonly getView: (nodes: Conjunction, key: string) => AlignmentView;
  /** Steps left for this alignment. */
  readonly allowance: Allowance;
  /** The origin of the value, if it was read from an input. */
  readonly source: AlignmentSource | undefined;
  /** Finds a number's digits in the input. */
  readonly findDigits: DigitFinder;
  /** Uses one attempt; false when none are left. */
  readonly useAttempt: () => boolean;
}
