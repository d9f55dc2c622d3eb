import { foldCase, foldSpelling, wordsOf } from './fold-text.js';

/** One of several values that a text may mean, and the ways it may be written. */
export interface Choice {
  readonly value: unknown;
  readonly names: readonly string[];
}

/** Names of choices in one spelling; a name that two choices share stands for neither. */
export type Names = ReadonlyMap<string, Choice | 'several'>;

/** Choices prepared for looking up: made once for a schema, used for every value. */
export interface ChoiceIndex {
  /** By whole text, the strictest spelling first. */
  readonly spellings: readonly { readonly fold: (text: string) => string; readonly names: Names }[];
  /** By the words of a name, joined. */
  readonly byWords: Names;
}

const FOLDS = [
  (text: string) => text.normalize('NFKC').toLowerCase().trim(),
  (text: string) => foldCase(text).trim(),
  foldSpelling,
];

/** Prepares choices. */
export function indexChoices(choices: readonly Choice[]): ChoiceIndex {
  return {
    spellings: FOLDS.map((fold) => ({ fold, names: collectNames(choices, fold) })),
    byWords: collectNames(choices, foldWords),
  };
}

/** All names of a member: with its explanation off, `P1 (critical)` may be called `P1` or `critical`. */
export function namesOf(member: string): string[] {
  const parts = /^([^()（）]+?)\s*[(（]([^()（）]+)[)）]$/.exec(member.trim());
  return parts === null ? [member] : [member, parts[1] ?? member, parts[2] ?? member];
}

/** The words of a text without what is between them. */
export function foldWords(text: string): string {
  return wordsOf(text)
    .map((word) => foldSpelling(word.text))
    .join('');
}

function collectNames(choices: readonly Choice[], fold: (text: string) => string): Names {
  const names = new Map<string, Choice | 'several'>();
  for (const choice of choices) {
    for (const folded of new Set(choice.names.map(fold))) {
      if (folded !== '') names.set(folded, names.has(folded) ? 'several' : choice);
    }
  }
  return names;
}
