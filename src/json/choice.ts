import { MAX_WORDS_BEFORE } from './bounds.js';
import type { Region } from './find/survey.js';

/** Words between two values that favor the later value. */
const CORRECTION =
  /\b(?:actually|conclu|corre(?:ct[aeio]|g|t)|disregard|edit\b|err(?:eur|or)|fix|forgot|go with|hence|hold on|ignore|instead|judge:|korr|meant|mejor|must be|mistake|my bad|no, $|now:? $|not (?:quite|right)|oops|outdated|overrul|re(?:calculat|consider|flection|plac|vis)|richtig|scratch|should be|so,? $|d[eé]s(?:ol|cul)|entschuld|e?xcus|apolog|lo siento|p[ae]rd[oó]n|scus|sorry|strike|second thought|therefore|update|wait|winner:|(?:is|was|be) wrong)|^\s?[—–](?! (?:and|or))|^.{0,3}(?:→|[-=]>)|[.?!]\s+no\b[.,:]|^\n\+|最终|正确|更正|再|重新|应[该为]|訂正|извин|правильн|죄송|ошиб|不对|有误|错|誤|잘못|間違/i;
/** Words before a value that rule it out as the answer. */
const DEMOTION =
  /\b(?:debug|e\.g|(?<![./@])example(?!\.\w)|exempl|(?<!(?:desired|requested|required|specified) )format[eo]?\b(?! (?:that )?you)|guess|instance|instead of|statt|lugar de|lieu de|(?:un)?like|reasoning|s(?:chema(?! (?:ask|expect|requir|want))|hape|tructure)|such as|template|thinking)|例|格式|예시|(?:~~|<(?:del|s)>|(?:^|\n)>.*)$|\b(?:the form|(?:you|user) (?:gave|said|sent|wrote)(?: me)?):?\s+$|\bwhat not to|\b(?:rather than|\w+ed from|changed?|replaced|it (?:was|would be)|originally[^.:;\n]{0,40}) $|\b(?:not|never|n't|previous(?:ly)?|former(?:ly)?|earlier|old|user|last|below|yesterday)\b[^.:;\n]{0,40}$/i;
/** Words before a value that rule it out as the answer if it follows another value. */
const AFTERTHOUGHT =
  /\b(?:would|wrong)\b(?!.*\b(?:but|is|should)\b)[^.:;\n]{0,40}$|\b(?:if|once|unless)\b[^.:;\n]{0,80}$|\b(?:since|because)\b[^.:;\n]{0,20}$/i;
/** Words that introduce a value as secondary: an alternative, a condition, a comparison. */
const ASIDE =
  /\b(?:alter|ano|autre|bonus|compar|could|default|fall|if\b|eventue|in case|lieber|might|oder|once|op(?:tion|ci)|ou\b|other|otr|outr|pr[eé]f[eé]r|runner|si\b|scenario|usage|used|vari|wenn|would|yesterday)|[或若]|또는|или/i;
/** Words that introduce a value as another part of the answer. */
const CONTINUATION = /\b(?:a(?:dd|lso|nd\b)|continu|more\b|next|or\b|part|rest\b|second)/i;
/** A turn of a person between two answers, and a turn that corrects the first answer. */
const QUESTION = /(?:^|\n)[\s#*]{0,9}(?:user|human|q|question|instruction) ?\d*(?:[:：]|\*|\n)|\n[^\n?]*\?[ *]{0,9}$/i;
const OBJECTION = /\b(?:again|no,|not|must|should|wrong)\b|n't/i;
/** Words that offer the later value in place of the earlier one, or both for the reader to choose. */
const OFFER = /\bif (?:you|we)(?:['’]d| also| like| need| prefer| want| would)\b/i;
const REQUEST = /\bwhich (?:do|of|one|would|you)\b/i;
const NON_ANSWER_LABEL = createLabelPattern(
  /input|original\b|before|previous|current|first (?:attempt|try|version)|old|initial|draft|sample|step|cached|action|attempt 1|scratch|rough|skeleton|unsorted|prelim|so far|first impression|v1|second.best|observation|plan|expected|tool|wrong|bad|incorrect|beispiel|entwurf|e[jsx]emp|przyk|örnek|ví dụ|пример|مثال|उदाहरण|草稿|예|초안/,
);
const ANSWER_LABEL = createLabelPattern(
  /correct|good|better|best(?! case)|answer|output|result|response|final|filled|polished|complete|solution|actual|updated|new|my\b|sorted|mean|merged|consensus|booked|tie.br|antwort|endg|svar|odpow|cevap|kết quả|respuesta|ответ|الإ|उत्तर|答|定稿|답|최종/,
);
/** Matches before a value at the start of a line, a sentence or a fence, or after a label. */
const STANDALONE = /(?:(?:^|[\n:：>.?!。])[\s*_#>`-]{0,9}|\n\+ ?)$/;
/** A label right before a value and its fence: `Final answer:`, `### Output`, `<answer>`. */
function createLabelPattern(words: RegExp): RegExp {
  return new RegExp(`(?<![a-z])(?:${words.source})${/[^\n:：>.]{0,40}(?:[:：>→\n]| is)[\s*_`]{0,9}$/.source}`, 'i');
}

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
  // `{…} / {…}`: two values of equal rank.
  if (byWords || isLabeled || /^[ ,;/|]+$/.test(between)) return undefined;
  if (/\b(?:but|ma|mais|sino|sondern)\b|\bI (?:choose|pick|play|return) $|[,，]但/i.test(words)) return true;
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

const ARROW = /(?:→|[-=]>) $/;

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
