import { foldCase, foldSpelling, LETTER_AS_WORD, MAX_TEXT_LENGTH, splitWords } from './spelling.js';
import type { Word } from './spelling.js';

/** One of several values that a string can mean, and its spellings. */
export interface Choice {
  readonly value: unknown;
  readonly names: readonly string[];
}

/** Choice names in one spelling; a name shared by two choices identifies neither. */
export type Names = ReadonlyMap<string, Choice | 'several'>;

/** Choices prepared for lookup: built once per schema, used for every value. */
export interface ChoiceIndex {
  /** By whole string, strictest spelling first. */
  readonly spellings: readonly { readonly fold: (text: string) => string; readonly names: Names }[];
  /** By the words of a name, joined. */
  readonly byWords: Names;
}

const FOLDS = [
  (text: string) => text.normalize('NFKC').toLowerCase().trim(),
  (text: string) => foldCase(text).trim(),
  foldSpelling,
];

/** Prepares choices for lookup. */
export function indexChoices(choices: readonly Choice[]): ChoiceIndex {
  return {
    spellings: FOLDS.map((fold) => ({ fold, names: collectNames(choices, fold) })),
    byWords: collectNames(choices, foldWords),
  };
}

const EXPLAINED_NAME = /^([^()（）]+?)\s*[(（]([^()（）]+)[)）]$/;

/** Lists a member's names: `P1 (critical)` is also called `P1` or `critical`. */
export function listNames(member: string): string[] {
  const parts = member.length > MAX_TEXT_LENGTH ? null : EXPLAINED_NAME.exec(member.trim());
  return parts === null ? [member] : [member, parts[1] ?? member, parts[2] ?? member];
}

/** Joins the words of a string without separators, each in its normalized spelling. */
function foldWords(text: string): string {
  return splitWords(text)
    .map((word) => foldSpelling(word.text))
    .join('');
}

/** Names longer than any string that is looked up are skipped: folding them does not take linear time. */
function collectNames(choices: readonly Choice[], fold: (text: string) => string): Names {
  const names = new Map<string, Choice | 'several'>();
  for (const choice of choices) {
    const short = choice.names.filter((name) => name.length <= MAX_TEXT_LENGTH);
    for (const folded of new Set(short.map(fold))) {
      if (folded !== '') names.set(folded, names.has(folded) ? 'several' : choice);
    }
  }
  return names;
}

/** The value that a string names, and the rule that found it. */
export interface ChosenValue {
  readonly value: unknown;
  readonly rule: 'enum_spelling' | 'enum_in_text';
}

/** Maximum number of words in a member that is looked up inside a string. */
const MAX_NAME_LENGTH = 8;
/** Maximum number of words in a string that is searched for a member; a longer string probably only mentions it. */
const MAX_WORDS = 40;

/** Words that can change the meaning of a mention: negation, doubt, degree, time, comparison. */
const QUALIFIERS = new Set(
  [
    'not no never neither nor none non cannot without except instead rather than unlikely hardly barely anti against',
    'opposite avoid lack lacks lacking or either vs versus between whether if unless until before maybe perhaps possibly',
    'might may could would should unclear unsure unknown partially partly nearly almost somewhat slightly fairly less',
    'more most mostly half semi quasi former formerly previously was were turned becoming actually wait sorry unable',
    'after once when only pending subject conditional conditionally to but although though despite however mixed moderately marginally relatively refuse fail failed nicht nichts kein keine ohne oder pas rien sans ou nada nunca sin ni 不 没 未 非 无 勿 否 莫 别 或',
  ]
    .join(' ')
    .split(' '),
);

/** The positions where members can appear in a string. */
export interface Placement {
  /** Separators between a member and its explanation. */
  readonly separators: RegExp;
  /**
   * Whether every member must be in the position of an answer; short members always must (`A` in `A good one` does not
   * count).
   */
  readonly isStrict: boolean;
}

/** The members of an enum: before an explanation, or anywhere in a short sentence. */
export const ENUM_PLACEMENT: Placement = { separators: /^\s*["'*`]*\s*[:;(（–—|\n]|^\s+-\s|^[).]\s/, isStrict: false };

/** Finds the value that a string names; undefined if it could name more than one or mean the opposite. */
export function choose(text: string, index: ChoiceIndex, placement: Placement): ChosenValue | undefined {
  if (text.length > MAX_TEXT_LENGTH) return undefined;
  const bySpelling = chooseBySpelling(text, index);
  if (bySpelling !== undefined)
    return bySpelling === 'several' ? undefined : { value: bySpelling.value, rule: 'enum_spelling' };
  const byMention = chooseInText(text, index.byWords, placement);
  return byMention === undefined ? undefined : { value: byMention.value, rule: 'enum_in_text' };
}

/** Finds the choice whose name is the whole string: ignoring case, then accents, then separators and punctuation. */
export function chooseBySpelling(text: string, { spellings }: ChoiceIndex): Choice | 'several' | undefined {
  if (text.length > MAX_TEXT_LENGTH) return undefined;
  for (const { fold, names } of spellings) {
    const found = names.get(fold(text));
    if (found !== undefined) return UNCLOSED.test(text) && isNamePrefix(text, [...names.keys()]) ? 'several' : found;
  }
  return undefined;
}

/** An opening quote without a closing one: the string was truncated. */
const UNCLOSED = /^\s*["'`“‘「][^"'`”’」]*$/u;

/** Whether a string is a name, or the start of one, and a longer name starts the same way. */
export function isNamePrefix(text: string, names: readonly string[]): boolean {
  const folded = foldSpelling(text);
  const prefixes = names.map((name) => foldSpelling(name.slice(0, 2 * MAX_TEXT_LENGTH)));
  return folded !== '' && prefixes.some((name) => name !== folded && name.startsWith(folded));
}

function chooseInText(text: string, names: Names, { separators, isStrict }: Placement): Choice | undefined {
  const words = splitWords(text);
  if (words.length > MAX_WORDS || /[?？]/.test(text)) return undefined;
  const { mentions, otherWords } = findMentions(words, names);
  const [first] = mentions;
  if (first === undefined || first.choice === 'several') return undefined;
  const others = mentions.filter((mention) => mention.choice !== first.choice);
  if (OPTION.test(text) && first.end === words[0]?.end)
    return isOptionText(text, others, otherWords) ? first.choice : undefined;
  if (others.length > 0) return undefined;
  // After `high:` or `high (` only a correction counts: the explanation can contain "not".
  if (first.start === words[0]?.start && separators.test(text.slice(first.end))) {
    return otherWords[0] !== undefined && isQualifier(otherWords[0].text) ? undefined : first.choice;
  }
  if (otherWords.some((word) => isQualifier(word.text)) || isOneOfSeveral(text, names)) return undefined;
  const isInPosition = mentions.some((mention) => isAnswerPosition(text, mention));
  const isShort =
    foldWords(text.slice(first.start, first.end)).length <= 3 || isQualifier(text.slice(first.start, first.end));
  return isInPosition || !(isStrict || (isShort && !LETTER_AS_WORD.test(text))) ? first.choice : undefined;
}

/** An option's letter and its text: `C) Both A and B`. */
const OPTION = /^[\s("'*]*[\p{L}\p{N}]\)[*"']*\s+\p{Lu}/u;

/** Whether an option's letter is followed by its text, not by another option or a correction. */
function isOptionText(text: string, others: readonly Mention[], otherWords: readonly Word[]): boolean {
  if (others.some(({ end }) => /^[).:]/.test(text.slice(end)))) return false;
  return (
    others.length === 0 ||
    (otherWords[0] !== undefined &&
      otherWords[0].start < (others[0]?.start ?? 0) &&
      (/^n(?:either|one)$/i.test(otherWords[0].text) || !isQualifier(otherWords[0].text)))
  );
}

const BEFORE_ANSWER =
  /(?:[:：=→]|\b(?:is|as|option|answer|choice|grade|level|class|category|be)(?:\s+(?:an?|the))?|是|为)\s*["'*`“‘([（]*$/iu;
const AFTER_ANSWER = /^["'*`”’)\]）]*[.!。！]?\s*$/u;

/** Whether a mention is in the position of an answer: at the end after `is` or a colon, or marked by quotes or asterisks. */
function isAnswerPosition(text: string, { start, end }: Mention): boolean {
  const before = text.slice(0, start);
  const after = text.slice(end);
  if (/["'*`“‘「【]$/u.test(before) && /^["'*`”’」】]/u.test(after)) return true;
  return BEFORE_ANSWER.test(before) && AFTER_ANSWER.test(after);
}

/**
 * Whether a string such as `red, blue` names several things, only one of them a member: choosing it would drop the
 * others.
 */
function isOneOfSeveral(text: string, names: Names): boolean {
  const parts = text.split(/[,;/|、，；&\n]|\s(?:and|und|et)\s/u).filter((part) => splitWords(part).length > 0);
  const others = parts.filter((part) => findMentions(splitWords(part), names).mentions.length === 0);
  return others.some((part) => splitWords(part).length <= 2);
}

interface Mention {
  readonly choice: Choice | 'several';
  readonly start: number;
  readonly end: number;
}

/** Finds all mentions. The longest name at each position counts: `strong buy` does not mention `buy`. */
function findMentions(words: readonly Word[], names: Names): { mentions: Mention[]; otherWords: Word[] } {
  const mentions: Mention[] = [];
  const otherWords: Word[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index];
    const found = findLongestMention(words, index, names);
    if (found !== undefined) {
      mentions.push(found.mention);
      index += found.length - 1;
    } else if (word !== undefined) {
      otherWords.push(word);
    }
  }
  return { mentions, otherWords };
}

function findLongestMention(
  words: readonly Word[],
  index: number,
  names: Names,
): { mention: Mention; length: number } | undefined {
  const first = words[index];
  let joined = '';
  let longest: { mention: Mention; length: number } | undefined;
  for (let length = 1; length <= MAX_NAME_LENGTH; length += 1) {
    const last = words[index + length - 1];
    if (first === undefined || last === undefined) break;
    joined += foldWords(last.text);
    const choice = names.get(joined);
    if (choice !== undefined) longest = { mention: { choice, start: first.start, end: last.end }, length };
  }
  return longest;
}

/** Whether a word can change the meaning of what it is about. */
export function isQualifier(word: string): boolean {
  const folded = foldCase(word);
  return QUALIFIERS.has(folded) || /n['’]t$/.test(folded) || /^(?:non|anti|pre|un)-/.test(folded);
}
