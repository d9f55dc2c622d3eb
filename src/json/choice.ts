import type { Region } from './find/survey.js';

/** Number of characters before a value searched for words about it. */
const MAX_WORDS_LENGTH = 160;

/** Words between two values that favor the later value. */
const CORRECTION =
  /\b(?:actually|apolog|corre(?:ct[aeio]|g|t)|disregard|edit\b|err(?:eur|or)|fix|forgot|go with|hence|hold on|ignore|instead|korr|meant|mistake|my bad|no, $|now:? $|not (?:quite|right)|oops|outdated|overrul|p[ae]rd[oó]n|re(?:calculat|consider|flection|plac|vis)|richtig|scratch|should be|so,? $|sorry|strike|second thought|therefore|update|(?:user|human):|wait|(?:is|was|be) wrong)|^\s?[—–](?! (?:and|or))|→|[-=]>|^\n\+|最终|不对|正确|更正|再[计計]|重新|应[该为]|訂正|ошиб/i;
/** Words before a value that rule it out as the answer. */
const DEMOTION =
  /\b(?:debug|e\.g|(?<![./@])example(?!\.\w)|exempl|format|guess|instance|instead of|statt|lugar de|lieu de|(?:un)?like|reasoning|schema|such as|template|thinking)|例|格式|예시|(?:~~|<(?:del|s)>|(?:^|\n)>.*)$|\b(?:the form|rather than|\w+ed from|changed?|replaced|it (?:was|would be)|(?:you|user) (?:said|sent|wrote)|originally[^.:;\n]{0,40}) $|\b(?:not|never|n't|previous|earlier|old|user|last|below)\b[^.:;\n]{0,40}$/i;
/** Words before a value that rule it out as the answer if it follows another value. */
const AFTERTHOUGHT =
  /\b(?:would|wrong)\b(?!.*\b(?:but|is|should)\b)[^.:;\n]{0,40}$|\b(?:if|once|unless)\b[^.:;\n]{0,80}$/i;
/** Words that introduce a value as an alternative. */
const ASIDE =
  /\b(?:a(?:dd|lso|lter|nd\b|no|utre)|bonus|compar|could|default|fall|if\b|eventue|in case|lieber|might|next|oder|once|op(?:tion|ci)|or\b|ou\b|other|otr|outr|part|pr[eé]f[eé]r|r(?:est\b|unner)|si\b|scenario|second|usage|used|vari|wenn|would|yesterday)|[或若]|또는|или/i;
const NON_ANSWER_LABEL = createLabelPattern(
  'input|original|before|previous|current|first (?:attempt|try|version)|old|initial|draft|sample|step|cached|action|attempt 1|observation|plan|expected|tool|wrong|bad|incorrect|beispiel|e[js]emp|пример',
);
const ANSWER_LABEL = createLabelPattern(
  'correct|good|answer|output|result|response|final|solution|actual|updated|new|antwort|respuesta|ответ|答',
);
/** Matches before a value at the start of a line, a sentence or a fence, or after a label. */
const STANDALONE = /(?:^|[\n:：>.?!。])[\s*_#>`+-]{0,9}$/;
/** A label right before a value and its fence: `Final answer:`, `### Output`, `<answer>`. */
function createLabelPattern(words: string): RegExp {
  return new RegExp(`(?<![a-z])(?:${words})[^\\n:：>.]{0,40}(?:[:：>\\n]| is)[\\s*_]{0,9}$`, 'i');
}

/**
 * Whether the words around two values, or their positions, show that `other` is the intended value rather than
 * `winner`. `byWords`: positions do not count.
 */
export function isIntended(raw: string, winner: Region, other: Region, byWords = false): boolean {
  const words = findWordsBefore(raw, other.start);
  const before = findWordsBefore(raw, winner.start);
  const isLater = other.start >= winner.end;
  const isCorrected = isLater && CORRECTION.test(raw.slice(winner.end, other.start).slice(-MAX_WORDS_LENGTH));
  const isWinnerDemoted = isDemoted(before);
  if (
    DEMOTION.test(words) ||
    (NON_ANSWER_LABEL.test(words) && !isCorrected) ||
    (AFTERTHOUGHT.test(words) && !isWinnerDemoted)
  )
    return false;
  if (isWinnerDemoted || isCorrected) return true;
  if (!isLater) return false;
  if (ANSWER_LABEL.test(words) && !ANSWER_LABEL.test(before)) return true;
  if (byWords || ANSWER_LABEL.test(before)) return false;
  if (/\b(?:but|ma|mais|sino|sondern)\b|\bI (?:choose|pick|play|return) $|[,，]但/.test(words)) return true;
  // A value on its own line beats a value inside a sentence, and a later value with an introduction beats an earlier
  // one.
  if (!isStandalone(raw, words, other)) return false;
  return (
    !isStandalone(raw, before, winner) || (/\p{L}/u.test(words) && !ASIDE.test(words) && !isParallel(before, words))
  );
}

/**
 * Whether two labels differ at most in a number or a letter: `Option A:`, `Option B:`. Not for `v1:`, `v2:`, where the
 * later value counts.
 */
function isParallel(before: string, words: string): boolean {
  const [left, right] = [before, words].map((label) =>
    label
      .trimEnd()
      .replace(/^[^]*[\n.]|\b\w\b|\P{L}/gu, '')
      .toLowerCase(),
  );
  return left !== '' && left === right && left !== 'v';
}

function isStandalone(raw: string, words: string, { end }: Region): boolean {
  return STANDALONE.test(words) && !/^[,;]? ?[a-z(]/.test(raw.slice(end, end + 3));
}

/** Returns the words before a value, back to the last bracket, without closing tags and closing fences. */
function findWordsBefore(raw: string, start: number): string {
  return raw.slice(Math.max(0, start - MAX_WORDS_LENGTH), start).replace(/^[^]*[}\]]|<\/[^>]*>|`{3}\w*/g, '');
}

/** Whether the words before a value call it an example, a format or a thought. */
function isDemoted(words: string): boolean {
  return DEMOTION.test(words) || NON_ANSWER_LABEL.test(words);
}
