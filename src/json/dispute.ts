import { MAX_QUOTE_LENGTH, MAX_WORDS_AFTER } from './bounds.js';
import { findWordsBefore, isDemoted } from './choice.js';
import type { Region } from './find/survey.js';

/** The effect of the words around the only value. */
export interface Dispute {
  /** They take it back or state another; otherwise they only raise a doubt. */
  readonly isDenied: boolean;
  /** Their effect, with the first of them. */
  readonly message: string;
}

/** A negation right before the value. */
const NEGATION =
  /(?:(?:\b(?:not|never|anything but|nicht|keine?|n'est pas|no es|non è)|n't|\bне)(?:(?: to)? \w+)?|不是|\b(?:tempt\w* to \w+|wrong (?:\w+ )?would be|(?:incorrect|misleading|wrong) to \w+|wäre falsch|(?:avoid|beware of|watch out for)(?: \w+){1,3} (?:such as|like)))[\s:：`"*]{0,9}$|\b(?:avoid(?: \w+ing)?|beware of)[\s`"*]{0,9}$/i;
/** A statement before or after the value that it is not the answer, or that its parts have to be replaced. */
const DISCLAIMER =
  /(?:\b(?:not|nicht|n'est pas|no es|non è|não é)|n['’]t) (?:an?|die|la|ma|meine?|mi|minha|my|the)(?: \w{1,20}){0,2} (?:answer|antwort|output|réponse|resposta|respuesta|response|result|risposta|solution)\b|\b(?:data|numbers|values) are (?:dumm|fake|invent)|\b(?:fill in|put in|replace|substitute|swap)\b[^.\n]{0,40}\b(?:actual|own|real|your)\b/i;
/** A sentence that holds only under a condition, a hypothesis right before the value, words of someone else. */
const CONDITION =
  /^\W{0,9}(?:if (?!I |you (?:just |would )?(?:like|need|prefer|want))|unless|assuming|suppose|provided|once|only (?:if|when)|in case|falls|wenn|si |se |если|如果|假如|もし|만약)|\b(?:could|might|would) (?:have )?\w+[\s:：`]{0,9}$|\b(?:claim|expect)(?:s|ed)[\s:：`]{0,9}$|\bI (?:assum|guess|suspect)\w*[\s:：`]{0,9}$|\b(?:author|boss|client|colleague|customer|doctor|docs|documentation|editor|friend|he|manager|recruiter|reviewer|seller|she|someone|they|user|vendor)(?: \d+)? (?:[^.\n]{0,40} and )?(?:claim|insist|said|says|sent|suggest|think|wrote)\w*\b[^.\n]{0,30}$/iu;
/** Words after the value that take it back or correct it, not in an offer to correct it; or that call it invented or a template. */
const RETRACTION =
  /(?:^|[.!?\n]\s{0,9}|[—–-] ?)(?:no,? )?(?:actually|hold on|on (?:reflection|second thought)|oops|scratch that|wait|(?:correction|edit|errata|korrektur|update)\b[^,:.\n]{0,20}[,:]|(?:désolé|hmm|moment|no|pardon|perd[oó]n|scusa|sorry) ?[,:])(?:(?!\bif\b)[^]){0,60}?(?:(?<=[,:=] ?|\b(?:are|be|es|is|not|now|says|sind|son|to) |'s )\d|err(?:eur|or)|equivoqu|falsch|fehler|forgot|incorrect|mis(?:read|take)|must be|sbagl|should|wrong)|\b(?:disregard|forget|ignore) (?:[^.\n]{0,20}\b(?:above|answer|json)\b|it\b|my\b|that\b|this\b)|(?:^|(?<!\bif )\b(?:it|that|this|which)(?:'s| ))(?:is |was )?(?:a (?:bug|mistake)|incorrect|not (?:correct|right)|wrong)|\b(?:above|oben) (?:is|ist) (?:falsch|incorrect|wrong)|\bdo(?:n['’]t| not) (?:rely on|trust|use) (?:it|that|this)\b|^(?:it|that|this|what)\b[^.\n]{0,40} (?:before|prior to) (?:\w+ )?(?:correct|chang|deploy|edit|fix|migrat|patch|refactor|updat|upgrad)|不对|更正|应[为该該]|訂正|正しくは|間違|정정|ошибк|\b(?:it|th(?:at|e (?:above|data|numbers?|values?)|ese|is))\b[^.\n]{0,30}\b(?:dummy|fabricated|fict\w+|illustrat\w+|invented|made[- ]up|mock|placeholders?)(?= (?:and|because|data|for|numbers?|output|response|since|to|values?)\b|[.,;)]|$)|\b(?:should|would) look like\b|\bI (?:just |simply )?(?:fabricated|invented|made (?:it|th\w+(?: \w+){0,2}) up)|\bI(?:['’]ll| will) (?:then )?fill (?!you)|^(?:as (?:an?|the|your) |(?:(?:it|that|this)(?: is|'s) )?(?:(?:just|only) )?(?:an? )?)(?:dummy|example|format|mock|placeholder|skeleton|stub|structure|template)\b/i;
/** Another possible value, or a question, after the value. */
const OTHER_VALUE =
  /\b(?:could|may|might)(?: also| instead| well){0,2} be ["'`]?[-\d]|\b(?:could|might) also be\b|^[?？](?! yes)/i;
/** Words after a list that say that it goes on. */
const ABRIDGED =
  /^(?:and|plus) (?:so (?:on|forth)|the (?:others|remaining|rest))\b|^etc\b|\bI (?:left out|omitted|skipped)\b|省略|\b(?:just|only) (?:(?:includ|list|show)\w* )?the first\b|\b(?:not|n['’]t) (?:listed|shown)\b|\b(?:abridged|omitted|shortened|truncated) (?:for|to)\b|^\W*truncated\b/i;
/** A refusal, or something missing that is needed for an answer. */
const REFUSAL =
  /\b(?:cannot|not(?! sure)|never|no \w+ can|nothing|unable|have no\b|(?:no|without) (?:access|data|(?:\w+ ){1,2}(?:attached|available|given|provided))|failed(?=[.!])|refuse|illegible|unreadable|too (?:blurry|dark|small)|need (?:the|your) \w+ to|ne \w+ pas|kann\b[^.]{0,40}\b(?:kein|nicht)|no (?:puedo|se puede)|non posso|não posso)\b|n['’]t\b|не могу|无法|不能|できません/i;
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
    (raw.slice(start, end).includes('[') ? (ABRIDGED.exec(sentence) ?? ABRIDGED.exec(after)) : null) ??
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
