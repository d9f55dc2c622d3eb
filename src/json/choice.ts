import { MAX_WORDS_BEFORE } from './bounds.js';
import type { Region } from './find/survey.js';
import {
  AFTERTHOUGHT,
  ANSWER_LABEL,
  ASIDE,
  CONTINUATION,
  CORRECTION,
  DEMOTION,
  NON_ANSWER_LABEL,
  OBJECTION,
  OFFER,
  QUESTION,
  REQUEST,
} from './words.js';

/** Matches before a value at the start of a line, a sentence or a fence, or after a label. */
const STANDALONE = /((^|[\n:：>.?!。])[\s*_#>`-]{0,9}|\n\+ ?)$/;
/** Whether the other of two values is intended, not the winner so far; undefined if nothing decides. */
export type Choice = boolean | undefined;

/**
 * Decides between two values by the words around them and by whether they stand alone. `byWords`: only words count.
 * Being first decides nothing.
 */
export function isOtherIntended(raw: string, winner: Region, other: Region, byWords = false): Choice {
  if (other.start < winner.start) {
    const choice = isOtherIntended(raw, other, winner, byWords);
    return choice === undefined ? choice : !choice;
  }
  if (REQUEST.test(raw.slice(other.end, other.end + MAX_WORDS_BEFORE))) return undefined;
  const before = findWordsBefore(raw, winner.start);
  const words = findWordsBefore(raw, other.start);
  const between = raw.slice(winner.end, other.start).slice(-MAX_WORDS_BEFORE);
  const isCorrected = CORRECTION.test(between.replace(/<[^>]*>/g, '')) && !OFFER.test(between);
  const isWinnerDemoted = isDemoted(before);
  const isOtherDemoted = DEMOTION.test(words) || (NON_ANSWER_LABEL.test(words) && !isCorrected);
  if (isOtherDemoted || (AFTERTHOUGHT.test(words) && !isWinnerDemoted))
    return (isWinnerDemoted && !ASIDE.test(words)) || isParallel(before, words) ? undefined : false;
  if (isWinnerDemoted || isCorrected) return true;
  if (QUESTION.test(between)) {
    if (OBJECTION.test(between)) return true;
    // The model went on and invented the next question; with the first question before it, it is a transcript.
    return QUESTION.test(raw.slice(0, winner.start)) ? undefined : false;
  }
  const isLabeled = ANSWER_LABEL.test(words);
  if (isLabeled !== ANSWER_LABEL.test(before)) return isLabeled;
  // `{…} / {…}`, `{…} ou {…}`: two values of equal rank.
  if (byWords || isLabeled || /^([ ,;/|]+|\s*(oder|ou?|或者?|또는|или)\s*)$/.test(between)) return undefined;
  if (/\b(but|ma|mais|sino|sondern)\b|\bI (choose|pick|play|return) $|[,，]但/i.test(words)) return true;
  if (ARROW.test(words) && !ARROW.test(before)) return true;
  // A value on its own line beats a value inside a sentence, and a later value with an introduction beats an earlier
  // one.
  const isAlone = isStandalone(raw, words, other);
  const haveLabels = /:\s*$/.test(words) && /:\s*$/.test(before);
  if (!haveLabels && isAlone !== isStandalone(raw, before, winner)) return isAlone;
  if (!isAlone || isParallel(before, words)) return undefined;
  if (ASIDE.test(words)) return ASIDE.test(before) ? undefined : false;
  // Labels of unknown meaning name two things of equal rank.
  return CONTINUATION.test(words) || countWords(before) > 0 || countWords(words) < 2 ? undefined : true;
}

const ARROW = /(→|[-=]>) $/;

/**
 * Whether two labels differ at most in a number or a letter: `Option A:`, `Option B:`.
 */
function isParallel(before: string, words: string): boolean {
  const [left, right] = [before, words].map((label) =>
    label
      .trimEnd()
      .replace(/^[^]*[\n.]|\b\w\b|\P{L}/gu, '')
      .toLowerCase(),
  );
  return left !== '' && left === right;
}

function countWords(text: string): number {
  return text.match(/\p{L}+/gu)?.length ?? 0;
}

function isStandalone(raw: string, words: string, { end }: Region): boolean {
  return STANDALONE.test(words) && !/^[,;]? ?[a-z(]/.test(raw.slice(end, end + 3));
}

/** Returns the words before a value, back to the last bracket, without closing tags and closing fences. */
export function findWordsBefore(raw: string, start: number): string {
  return raw.slice(Math.max(0, start - MAX_WORDS_BEFORE), start).replace(/^[^]*[}\]]|<\/[^>]*>|`{3}\w*/g, '');
}

/** Whether the words before a value call it an example, a format or a thought. */
export function isDemoted(words: string): boolean {
  return DEMOTION.test(words) || NON_ANSWER_LABEL.test(words);
}
