import { MAX_QUOTE_LENGTH, MAX_WORDS_AFTER } from './bounds.js';
import { findWordsBefore, isDemoted } from './choice.js';
import type { Region } from './find/survey.js';
import { AND_SO_ON } from './reader/filler.js';
import {
  ABRIDGED,
  CONDITION,
  DISCLAIMER,
  NEGATION,
  NEGATIONS,
  OTHER_VALUE,
  REFUSAL,
  RETRACTION,
  STATEMENT,
} from './words.js';

/** The effect of the words around the only value. */
export interface Dispute {
  /** They take it back or state another; otherwise they only raise a doubt. */
  readonly isDenied: boolean;
  /** Their effect, with the first of them. */
  readonly message: string;
}

/** Looks for words around the value that say it does not hold. */
export function findDispute(raw: string, { start, end }: Region): Dispute | undefined {
  const before = findWordsBefore(raw, start);
  const [sentence = ''] = /((?![.!?]\s|[。！？])[^])*$/.exec(before.trimEnd()) ?? [];
  const after = raw
    .slice(end, end + MAX_WORDS_AFTER)
    .replace(/^([\s`*_~.,;()"'←↑^]|<-+)+|(<(?!-)|[{[](?!\W*\w+ed\b))[^]*$/g, '');
  const condition = CONDITION.exec(sentence);
  const doubt = condition ?? OTHER_VALUE.exec(after);
  // Together with a refusal, a doubt, a format or a value of the past leaves nothing to go by; nor do two of them.
  const isIntroduced = !/[.!]\n\n\s*$/.test(before);
  const isDemotedAnyway = isIntroduced && isDemoted(before.replaceAll(NEGATIONS, '')) && !STATEMENT.test(sentence);
  const denial =
    NEGATION.exec(sentence) ??
    DISCLAIMER.exec(sentence) ??
    DISCLAIMER.exec(after) ??
    RETRACTION.exec(after) ??
    (raw.slice(start, end).includes('[')
      ? (ABRIDGED.exec(sentence) ?? ABRIDGED.exec(after) ?? AND_SO_ON.exec(after.slice(0, 60)))
      : null) ??
    (isDemoted(sentence.slice(0, condition?.index ?? 0)) ? condition : null) ??
    (doubt || isDemotedAnyway ? (REFUSAL.exec(before) ?? REFUSAL.exec(after)) : null);
  const match = denial ?? doubt;
  if (!match) return undefined;
  const words = match.input
    .slice(match.index)
    .replace(/^[\s.!?]+/, '')
    .slice(0, MAX_QUOTE_LENGTH);
  const effect = denial ? 'takes the value back' : 'doubts the value';
  return { isDenied: denial !== null, message: `The text ${effect}: ${JSON.stringify(words)}` };
}
