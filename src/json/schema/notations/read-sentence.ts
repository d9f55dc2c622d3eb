import { isSpecific } from '../align/align-array.js';
import type { AlignmentContext } from '../align/rules.js';
import { isQualifier } from '../text/choices.js';
import { DATE_PHRASE } from '../text/dates.js';
import { isUnit, spellDigits } from '../text/numbers.js';
import { MAX_TEXT_LENGTH, splitWords } from '../text/spelling.js';
import type { AlignmentView } from '../views/schema-views.js';
import { ITEM, removeCodeMarks } from './read-lines.js';

/** A number that is not part of a name, date or range, with the sign of a currency before it and up to two words after it. */
const NUMBER =
  /(?:\p{Sc} ?)?(?<![a-z_./:-]|\p{Nd})[+-]?\p{Nd}(?:[\p{Nd}.,٫٬]*\p{Nd})?(?!\p{Nd}|[/:-]\p{Nd}|[a-z])(?: ?[%‰]|(?: ?\p{L}+(?:[.-]\p{L}+)*| ?\p{Sc}){0,2})/giu;
const STATES = /(?:\b(?:is|was|ist|est|es|equals)\s|[:=是为]\s?)$/i;
/** Words that ask, refuse or estimate, besides those that qualify a member of an enum; more of them next to a number. */
const UNCERTAIN =
  /\b(?:e\.g|error|(?<![.@])example(?!\.\w)|fail\w*|looks? like|missing|no ?(?:body|one)|please|second thought|such as|unavailable|unknown|usually)\b|n['’]t\b|[?？]/i;
const ESTIMATED =
  /\b(?:I|me|you|your|about|approx\w*|around|at (?:least|most)|below|best|circa|estimat\w*|even|over|roughly|some|than|under|up to|page|line|section|step|figure|table)\b|[~≈–]|约|約|几|左右|以上|लगभग/iu;
/** Words that qualify a member, but not a whole statement. */
const NEUTRAL = /^(?:after|although|but|only|once|though|to|was|were|when)$/i;
/** The words of a statement; one with a digit or a sign can be a value with a pattern or format. */
const TOKEN = /[^\s"'`*<>()[\]“”‘’,;。，、]+/gu;
/** A paragraph that starts the next question: the model went on after the answer. */
const TURN = /^(?:q|question|user|human|input|problem)\b[^\n]{0,9}:/i;
const LABEL = /^[\p{L} ]{1,30}:/gmu;
/** A line that labels a value: `**Final answer:** 42`. */
const LABELLED_LINE = /^[\s#>*_-]{0,9}(\p{L}[\p{L} _-]{0,39}?)[*_`]{0,3}[:：][*_\s]{0,4}(\S.{0,59}?)[*_`]{0,3}\.?$/u;
/** A statement at the end of a text: `So the number of rows is 42.` */
const CONCLUSION =
  /(?:^|[.!?:;,\n]\s*(?:(?:and|so|thus|hence|therefore),? )?)((?:the|my|our) [^.!?:;,\n]{1,60}?)(?: is(?: (?:therefore|thus|an?))? | equals | ?[:=] )[*`"']{0,3}([^\s*`"'][^*`"'\n]{0,39}?)[*`"']{0,3}[.!]?$/iu;
/** Labels of the answer, and of other values. */
const ANSWER =
  /\b(?:answer|conclusion|decision|final|output|result|total|verdict)\b|antwort|ergebnis|répon|respuesta|答案|结[果论]/i;
const NON_ANSWER =
  /\b(?:approx\w*|assum\w*|before|believ\w*|claim\w*|confidence|draft|e\.?g|error|estimate|example|expected|format|guess|if|initial|input|note|old|page|placeholder|previous|question|said|sample|says|sub-?total|suggest\w*|template|thinks?|unless|was)\b/i;
const NO_ANSWER = /\b(?:cannot|unable|unclear|unknown|insufficient|not enough|can['’]t)\b/i;
/** Paragraphs around a list: an announcement, and an offer. */
const ANNOUNCEMENT = /^[^\n]{1,120}[:：]$/;
const OFFER = /^(?:(?:please )?let me know|feel free|hope|I hope|would you like|if you)\b[^\n]*$/i;

/**
 * Lists the parts of prose that can be the whole answer: the first paragraph, if only an explanation or an invented question
 * follows; the only number, or the only text of the expected format, in a short statement without doubt; the only list.
 */
export function listStatements(context: AlignmentContext, root: AlignmentView, text: string): unknown[] {
  const paragraphs = text.split(/\n\s*\n/);
  const [first = '', ...rest] = paragraphs.map((paragraph) => paragraph.trim());
  const type = root.types.join();
  const isNull = first === 'null' || /(?:^|[:,] )null\.?$/.test(paragraphs.at(-1)?.trim() ?? '');
  if (isNull && context.passes(root, null)) return [null];
  if (type === 'array') {
    const items = readOnlyList([first, ...rest]);
    return items === undefined ? [] : [items];
  }
  if (first.length > MAX_TEXT_LENGTH || type === 'object') return [];
  const runsOn = isRunOn(rest);
  const statements: unknown[] = runsOn ? [] : listConclusions(context, root, text);
  const stated = first.replace(/^[\p{L} ]{1,30}:\s*/u, '');
  const names = root.members?.map(({ value }) => String(value).toLowerCase());
  const explains = (paragraph: string): boolean =>
    !isUncertain(paragraph) &&
    names?.every((name) => stated.toLowerCase().includes(name) || !paragraph.toLowerCase().includes(name)) === true;
  if (runsOn || (rest.length > 0 && rest.every(explains))) statements.push(stated);
  if (text.length > MAX_TEXT_LENGTH || isUncertain(text)) return statements;
  if (/^(?:number|integer)$/.test(type) && !ESTIMATED.test(text)) {
    const numbers = [...spellDigits(text).matchAll(NUMBER)].map(([number]) => number);
    const [only = ''] = numbers;
    // A bare number could count anything, unless the statement is about it.
    const isStated = /[^\p{Nd}.,]/u.test(only) || STATES.test(text.slice(0, text.indexOf(only)));
    if (numbers.length === 1 && isStated) statements.push(...listNumberForms(context, root, only));
  } else if (type === 'string' && root.members === undefined) {
    const tokens = new Set((text.match(TOKEN) ?? []).map((token) => token.replace(/[.:!]+$/, '')));
    const dates = root.format === 'date' ? new Set(text.match(DATE_PHRASE)) : [];
    const [only, other] = [
      ...[...tokens].filter((token) => /[\d@:/_-]/.test(token) && context.passes(root, token)),
      ...[...dates].filter((date) => readsAs(context, root, date)),
    ];
    if (only !== undefined && other === undefined) statements.push(only);
  }
  return statements;
}

/**
 * The value that the last line labels, with the label of an answer or as the only labelled line; the value that the last
 * sentence states; and the value between the only asterisks of a short text without doubt.
 */
function listConclusions(context: AlignmentContext, root: AlignmentView, text: string): unknown[] {
  const isOpen = root.types.join() === 'string' && root.members === undefined && !isSpecific(root);
  if (isOpen) return [];
  const labelled = text.split('\n').flatMap((line) => {
    const [, label = '', value = ''] = LABELLED_LINE.exec(line.trim()) ?? [];
    return value !== '' && readsAs(context, root, value) ? [{ line, label, value }] : [];
  });
  const last = labelled.at(-1);
  const isLast = last !== undefined && text.trimEnd().endsWith(last.line.trimEnd());
  if (isLast && !NON_ANSWER.test(last.label) && !NO_ANSWER.test(ANSWER.test(last.label) ? last.line : text)) {
    const isOnly = labelled.every(({ value }) => value === last.value);
    return isOnly || ANSWER.test(last.label) ? [last.value] : [];
  }
  const [, subject = '', stated = ''] = CONCLUSION.exec(text.trim().slice(-MAX_TEXT_LENGTH)) ?? [];
  const isCertain = !NON_ANSWER.test(subject) && !isUncertain(subject) && !ESTIMATED.test(stated);
  if (stated !== '' && isCertain && !NO_ANSWER.test(text) && readsAs(context, root, stated)) return [stated];
  const marked = new Set([...text.matchAll(/\*\*([^*\n]{1,60})\*\*/g)].map(([, value = '']) => value));
  const [only = ''] = marked;
  if (marked.size !== 1 || text.length > MAX_TEXT_LENGTH || isUncertain(text) || ESTIMATED.test(text)) return [];
  return readsAs(context, root, only) ? [only] : [];
}

/** A number with the words after it; without them, if they cannot be another unit than the schema's. */
function listNumberForms(context: AlignmentContext, root: AlignmentView, number: string): readonly string[] {
  const words = number.match(/\p{L}+(?:[.-]\p{L}+)*|\p{Sc}$/gu) ?? [];
  const [unit = '', second = ''] = words;
  const forms = [number, second === '' ? '' : number.slice(0, number.lastIndexOf(second)).trim()];
  const bare = number.replace(/(?<=\p{Nd})[^\p{Nd}]*$/u, '');
  const passing = forms.find((form) => form !== '' && readsAs(context, root, form));
  if (passing !== undefined) return [passing];
  return /[%‰]$/.test(number) || (root.words.size > 0 && isUnit(unit)) ? [] : [bare];
}

function readsAs(context: AlignmentContext, root: AlignmentView, text: string): boolean {
  return context.passes(root, context.align(root, text, { path: [], isElement: false }).value);
}

/** Whether each of the paragraphs after the answer is another question or example. */
function isRunOn(paragraphs: readonly string[]): boolean {
  if (TURN.test(paragraphs[0] ?? '')) return true;
  const labels = paragraphs.flatMap((paragraph) => paragraph.match(LABEL)?.slice(0, 1) ?? ['']);
  return labels.length > 1 && labels[0] !== '' && labels.every((label) => label === labels[0]);
}

function isUncertain(text: string): boolean {
  return UNCERTAIN.test(text) || splitWords(text).some((word) => isQualifier(word.text) && !NEUTRAL.test(word.text));
}

/** The only list in the text, with nothing else than an announcement before it and an offer after it. */
function readOnlyList(paragraphs: readonly string[]): readonly string[] | undefined {
  const lists = paragraphs.filter((paragraph) => ITEM.test(paragraph.split('\n', 1)[0] ?? ''));
  const [intro, list = ''] = paragraphs;
  if (lists.length !== 1 || list !== lists[0] || intro === undefined || !ANNOUNCEMENT.test(intro)) return undefined;
  if (isUncertain(intro) || ESTIMATED.test(intro) || !paragraphs.slice(2).every((paragraph) => OFFER.test(paragraph)))
    return undefined;
  const items = list.split('\n').map((line) => (/^\S/.test(line) ? ITEM.exec(line)?.[1]?.trim() : undefined));
  return items.length > 1 && items.every((item) => item !== undefined && !/^[*_[]|: |[|]|[.!?]$/.test(item))
    ? removeCodeMarks(items.filter((item) => item !== undefined))
    : undefined;
}
