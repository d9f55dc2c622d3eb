/** Maximum length of a string that is searched for a number, word or date. Longer strings are prose. */
export const MAX_TEXT_LENGTH = 300;

const PLAIN = /^[a-z\d]+$/i;
const ASCII = /^[\x20-\x7e]*$/;

/**
 * Converts a string to lower case without accents, in one Unicode normalization form: `Résumé` and `resume` are the
 * same word.
 */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

const AROUND = /^[\s"'`*“”‘’«»「」『』([{（【]+|[\s"'`*“”‘’«»「」『』)\]}）】.,;:!。，；：！]+$/gu;
const SEPARATORS = /(?<=[\p{L}\p{N}])[\s_./\\-]+(?=[\p{L}\p{N}])/gu;

/**
 * Normalizes the spelling of a string: ignores case, accents, surrounding quotes and separators; keeps meaningful signs
 * (`A-` is not `A`, `C++` is not `C`).
 */
export function foldSpelling(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase();
  return foldCase(text).replaceAll(AROUND, '').replaceAll(SEPARATORS, '');
}

const WORD = /[\p{L}\p{N}_]+(?:[-'’./][\p{L}\p{N}_]+)*[+#]*(?:-(?![\s\p{L}\p{N}]|$)|-$)?/gu;
/** Scripts written without spaces. */
export const LETTER_AS_WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** A word and its position. */
export interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Splits a string into words; in scripts without spaces every letter is a word. */
export function splitWords(text: string): Word[] {
  const words: Word[] = [];
  for (const match of text.matchAll(WORD)) {
    const [word] = match;
    if (!LETTER_AS_WORD.test(word)) {
      words.push({ text: word, start: match.index, end: match.index + word.length });
      continue;
    }
    let start = match.index;
    for (const letter of word) {
      words.push({ text: letter, start, end: start + letter.length });
      start += letter.length;
    }
  }
  return words;
}
