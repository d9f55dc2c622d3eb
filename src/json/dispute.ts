import type { Region } from './find/survey.js';

/** Number of characters before and after a value searched for words about it. */
const MAX_WORDS_LENGTH = 240;

/** The effect of the words around the only value: they take it back or state another, or they only raise a doubt. */
export type Dispute = 'denied' | 'doubted' | undefined;

/** The effect of the words, for messages. */
export const DISPUTES = { denied: 'take it back or state another', doubted: 'put it in doubt' };

/** A negation right before the value. */
const NEGATION =
  /(?:\b(?:not|never|nicht|keine?|n'est pas|no es|non è)|n't|\bне)(?: (?:accept|answer|be|expect|give|output|produce|return|say|send|use|write))?[\s:：`"*]{0,9}$|\bnot (?:the|my|an?) (?:\w{1,20} ){0,2}(?:answer|output|response|result|solution)\b[^.\n]{0,20}$|\btempt\w* to \w+[\s:：`]{0,9}$|不是[\s:：`]{0,9}$/i;
/** A sentence that holds only under a condition, a hypothesis right before the value, words of someone else. */
const CONDITION =
  /^\W{0,9}(?:if (?!I |you (?:just |would )?(?:like|need|prefer|want))|unless|assuming|suppose|provided|only (?:if|when)|in case|falls|wenn|si |se |если|如果|假如|もし|만약)|\b(?:could|might|would) (?:be|give|have been|return)[\s:：`]{0,9}$/iu;
const QUOTATION =
  /\b(?:boss|client|colleague|customer|he|manager|reviewer|she|someone|they|user) (?:claim|insist|said|says|sent|suggest|think|wrote)\w*\b[^.\n]{0,30}$/i;
/** Words after the value that take it back or correct it; not in an offer to correct it. */
const RETRACTION =
  /(?:^|[.!?\n]\s{0,9}|[—–-] ?)(?:actually|hold on|on second thought|oops|scratch that|wait|(?:correction|désolé|edit|hmm|moment|no|pardon|perd[oó]n|scusa|sorry|update) ?[,:])(?:(?!\bif\b)[^]){0,60}?(?:\d|err(?:eur|or)|equivoqu|falsch|fehler|forgot|incorrect|mis(?:read|take)|must be|sbagl|should|wrong)|\b(?:disregard|ignore) (?:it|my|that|the (?:above|answer|json)|this)\b|(?<!\bif )\b(?:it|that|this)(?:'s| is| was) (?:a mistake|incorrect|not (?:correct|right)|wrong)|不对|更正|应[为該该]|訂正|正しくは|間違|정정|ошибк/i;
const OTHER_VALUE = /\b(?:could|may|might)(?: also| instead| well){0,2} be ["'`]?[-\d]|\b(?:could|might) also be\b/i;
/** A value of the past, words after a value that is only a template, a refusal, and words that show only the format. */
const PAST = /\b(?:formerly|originally|previously|used to)\b[^.\n]{0,60}$/i;
const TEMPLATE =
  /\b(?:dummy|fict\w+|illustrative|invented|made[- ]up|placeholder) (?:data|json|numbers?|output|values?)\b|\bto show the (?:format|shape|structure)|\bI(?:['’]ll| will) (?:then )?fill\b|^as (?:an?|the|your) (?:example|format|structure|template)/i;
const REFUSAL =
  /\b(?:can(?:not|'t|’t)|can not|unable to|(?:no|without) access|too (?:blurry|dark|small)|ne peu[tx] pas|kann (?:ich )?(?:kein|nicht)|no (?:puedo|se puede)|non posso|não posso)\b|n['’]t (?:been able|have access)|не могу|无法|不能|できません/i;
const FORMAT =
  /\b(?:example|(?<!(?:desired|requested|required|specified) )format|look like|placeholder|sample|schema|structure|template)|格式|例|形式/i;

/** Looks for words around the only value that say it does not hold. */
export function findDispute(raw: string, { start, end }: Region): Dispute {
  const before = raw.slice(Math.max(0, start - MAX_WORDS_LENGTH), start).replace(/^[^]*<\/[^>]*>|`{3}\w*/g, '');
  const [sentence = ''] = /(?:(?![.!?]\s|[。！？])[^])*$/.exec(before.trimEnd()) ?? [];
  const after = raw.slice(end, end + MAX_WORDS_LENGTH).replace(/^[\s`*_~.,;)]+|[<{[][^]*$/g, '');
  const isDoubted = CONDITION.test(sentence) || QUOTATION.test(sentence) || OTHER_VALUE.test(after);
  // Together with a refusal, a doubt or a format leaves nothing to go by.
  const isHollow = isDoubted || PAST.test(sentence) || FORMAT.test(sentence);
  if (NEGATION.test(sentence) || RETRACTION.test(after) || TEMPLATE.test(after)) return 'denied';
  if (isHollow && (REFUSAL.test(before) || REFUSAL.test(after))) return 'denied';
  return isDoubted ? 'doubted' : undefined;
}
