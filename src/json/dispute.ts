import { MAX_QUOTE_LENGTH, MAX_WORDS_AFTER } from './bounds.js';
import { findWordsBefore, isDemoted } from './choice.js';
import type { Region } from './find/survey.js';
import { AND_SO_ON } from './reader/filler.js';

/** The effect of the words around the only value. */
export interface Dispute {
  /** They take it back or state another; otherwise they only raise a doubt. */
  readonly isDenied: boolean;
  /** Their effect, with the first of them. */
  readonly message: string;
}

/**
 * A negation right before the value. With a word between them it must be a verb whose object is the value: `not found:`
 * describes what is in it.
 */
const NEGATION =
  /(?:\b(?:not|never|anything but|nicht|keine?|n'est pas|no es|non è)|n't|\bне|^\W*(?:do(?:n't| not)|never) \w+|不是|\b(?:tempt\w* to \w+|wrong (?:\w+ )?would be|wrong to \w+|wäre falsch|(?:avoid|beware of|watch out for) [\w ]{1,40} (?:such as|like)))[\s:：`"*]{0,9}$|\b(?:(?:not|never|n't)(?: to)? \w+|avoid(?: \w+ing)?)[\s`"*]{0,9}$/i;
/** A statement before or after the value that it is not the answer, or that its parts have to be replaced. */
const DISCLAIMER =
  /(?:\b(?:not|nicht|n'est pas|no es|non è)|n['’]t) (?:an?|die|la|m[aeiy]\w*|the)(?: \w{1,20}){0,2} (?:answer|antwort|output|r[ei]sp\w+|réponse|result)\b|\bvalues are dumm|\b(?:fill|put|replace|swap)\b[^.\n]{0,40}\b(?:own|real|your)\b/i;
/** A sentence that holds only under a condition, a hypothesis right before the value, words or a quotation of someone else. */
const CONDITION =
  /^\W{0,9}(?:if (?!I |you (?:\w+ )?(?:like|need|prefer|want))|unless|assuming|once|falls|wenn|s(?:['’]i|i |e )|если|如果|假如|もし|만약)|\b(?:could|might|would) (?:have )?\w+[\s:：`]{0,9}$|\b(?:w[äü]rd?e|sähe)\b[^.\n]{0,40}$|\bI (?:assum|guess)\w*[\s:：`]{0,9}$|(?<!\b(?:I|we|you) )\b(?:claim|expect|insist|said|sent|wrote)\w*\b[^.\n]{0,30}$|^(?:[^"]*"[^"]*")*[^"]*"(?=[^"]*\p{L})[^"]*$/iu;
/**
 * Words after the value: a correction and how it starts, not in an offer to correct it; a mention of the answer with an
 * error; what takes the value back, or calls it invented or a template.
 */
const RETRACTION =
  /(?:(?:^|[.!?\n]\s{0,9}|[—–-] ?)(?:no,? )?(?:actually|hold on|on (?:reflection|second thought)|oops|scratch that|wait|(?:correction|edit|errata|korrektur|update)\b[^,:.\n]{0,20}[,:]|(?:hmm|moment|no) ?[,:]|d[eé]s(?:ol|cul)|entschuld|e?xcus|apolog|lo siento|p[ae]rd[oó]n|scus|sorry)(?:(?!\b(?:if|for|about|für|pour)\b)[^]){0,60}?(?:(?<=[,:=] ?|\b(?:be|es|is|now|sind|son) |'s )\d|forgot|should|(?<!\b(?:any|no|not|without) )(?:err(?:ad|eur|on|or)|equivo[cq]|falsch|fehler|incorre|mis(?:read|take|took)|sbagl|tromp|verwechsel|wrong))|(?<!\b(?:falls|if|original|previous|si|wenn|your)\b[^.\n]{0,20})\b(?:above|anterior|answer|oben|output|results?|r[ei]sp\w+sta|values?)\b[^.\n]{0,30}(?<!\b(?:any|no|not|without) )(?:err(?:ad|eur|on|or)|equivo[cq]|falsch|fehler|incorre|mis(?:read|take|took)|sbagl|tromp|verwechsel|wrong))|^(?!如|もし)[^]{0,40}(?:ошиб|不对|有误|错|誤|잘못|間違(?!いが))|\b(?:disregard|forget|ignor\w*|retract|strike) (?:[^.\n]{0,20}\b(?:above|anterior|answer)|it|my|that|this)\b|(?:^(?:which )?|(?<!\bif )\b(?:it|that|this)(?:'s| ))(?:is |was )?(?:a (?:bug|mistake)|incorrect|not (?:correct|right)|wrong)|^(?:but|which) (?:that )?(?:is|I \w+)(?:n['’]t| not)\b|\b(?:it|that|this)(?: can(?:no|['’])t be right| do\w+(?: not|n['’]t) add up)|\btake that back|\bdo(?:n['’]t| not) (?:trust|use) (?:it|th)|nicht verwend|取り消|撤回|^(?:it|that|this|what)\b[^.\n]{0,40} (?:before|prior to) (?:\w+ )?(?:chang|fix|patch)|更正|应[该为]|訂正|正しくは|정정|\b(?:it|th(?:at|e (?:above|data|numbers?|values?)|ese|is)|values)\b[^.\n]{0,30}\b(?:dumm\w+|examples?|fabricated|fake|invented|made[- ]up|mock|placeholders?|samples?)(?= (?:because|data|for|output|response|values?)\b|[.,;)]|$)|\b(?:should|would) look like\b|\bI (?:\w+ )?(?:invented|made \w+ (?:\w+ )?up)|^(?:as \w+ |(?:(?:it|that|this)(?: is|'s) )?(?:(?:just|only) )?(?:an? )?)(?:dummy|example|mock|placeholder|skeleton|template)\b/i;
/** Another possible value, or a question, after the value. */
const OTHER_VALUE = /\b(?:could|may|might) (?:\w+ ){0,2}be ["'`]?[-\d]|^[?？](?! yes)/i;
/** Words after a list that say that it goes on. */
const ABRIDGED =
  /\bI (?:left out|omit|skip)|\b(?:just|only) (?:\w+ )?the first\b|\b(?:includ|list|show)\w* \w+ (?:out )?of (?:the )?\d|^(?:\w+:? ){0,2}truncated\b|省略/i;
/** A refusal, or something missing that is needed for an answer. */
const REFUSAL =
  /\b(?:cannot|not(?! sure)|never|no \w+ can|nothing|unable|(?:no|without) (?:access|data|(?:\w+ ){1,2}(?:attach|avail|given|provid)\w*)|failed(?=[.!])|refuse|unreadable|need (?:the|your) \w+ to|pas|kann\b[^.]{0,40}\bnicht|no (?:se )?pued[eo]|posso)\b|n['’]t\b|не могу|无法|不能|ません/i;
const NEGATIONS = /\b(?:never|not)\b|n['’]t\b/gi;
/** A clause before the value that states it, whatever the words before the clause say. */
const STATEMENT = /[,:] the [^,:]* (?:gives|says|shows|states)[: ]*$/i;

/** Looks for words around the value that say it does not hold. */
export function findDispute(raw: string, { start, end }: Region): Dispute | undefined {
  const before = findWordsBefore(raw, start);
  const [sentence = ''] = /(?:(?![.!?]\s|[。！？])[^])*$/.exec(before.trimEnd()) ?? [];
  const after = raw
    .slice(end, end + MAX_WORDS_AFTER)
    .replace(/^(?:[\s`*_~.,;()"'←↑^]|<-+)+|(?:<(?!-)|[{[](?!\W*\w+ed\b))[^]*$/g, '');
  const condition = CONDITION.exec(sentence);
  const doubt = condition ?? OTHER_VALUE.exec(after);
  // Together with a refusal, a doubt, a format or a value of the past leaves nothing to go by; nor do two of them.
  const isDemotedAnyway = isDemoted(before.replaceAll(NEGATIONS, '')) && !STATEMENT.test(sentence);
  const denial =
    NEGATION.exec(sentence) ??
    DISCLAIMER.exec(sentence) ??
    DISCLAIMER.exec(after) ??
    RETRACTION.exec(after) ??
    (raw.slice(start, end).includes('[')
      ? (ABRIDGED.exec(sentence) ?? ABRIDGED.exec(after) ?? AND_SO_ON.exec(after.slice(0, 60)))
      : null) ??
    (isDemoted(sentence.slice(0, condition?.index ?? 0)) ? condition : null) ??
    (doubt !== null || isDemotedAnyway ? (REFUSAL.exec(before) ?? REFUSAL.exec(after)) : null);
  const match = denial ?? doubt;
  if (match === null) return undefined;
  const words = match.input
    .slice(match.index)
    .replace(/^[\s.!?]+/, '')
    .slice(0, MAX_QUOTE_LENGTH);
  const effect = denial === null ? 'doubts the value' : 'takes the value back';
  return { isDenied: denial !== null, message: `The text ${effect}: ${JSON.stringify(words)}` };
}
