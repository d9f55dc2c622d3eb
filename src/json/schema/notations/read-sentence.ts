import type { AlignmentContext } from '../align/rules.js';
import { isQualifier } from '../text/choices.js';
import { isUnit } from '../text/numbers.js';
import { MAX_TEXT_LENGTH, splitWords } from '../text/spelling.js';
import type { AlignmentView } from '../views/schema-views.js';
import { ITEM } from './read-lines.js';

/** A number that is not part of a name, date or range, with the sign of a currency before it and up to two words after it. */
const NUMBER =
  /(?:\p{Sc} ?)?(?<![a-z_./:-]|\p{Nd})[+-]?\p{Nd}(?:[\p{Nd}.,٫٬]*\p{Nd})?(?!\p{Nd}|[/:-]\p{Nd}|[a-z])(?: ?[%‰]|(?: ?\p{L}+(?:[.-]\p{L}+)*| ?\p{Sc}){0,2})/giu;
const STATES = /(?:\b(?:is|was|ist|est|es|equals)\s|[:=是为]\s?)$/i;
const HAN_NUMBER =
  /[一二两三四五六七八九][一二两三四五六七八九十百千万零〇]*[十百千万][一二两三四五六七八九十百千万零〇]*/gu;
const HAN_DIGITS = '零一二三四五六七八九';
/** Words that ask, refuse or estimate, besides those that qualify a member of an enum; more of them next to a number. */
const UNCERTAIN =
  /\b(?:e\.g|error|example(?!\.\w)|fail\w*|missing|please|second thought|such as|unavailable|unknown)\b|n['’]t\b|[?？]/i;
const ESTIMATED =
  /\b(?:I|me|you|your|about|approx\w*|around|at (?:least|most)|below|best|circa|estimat\w*|even|over|roughly|some|than|under|up to|page|line|section|step|figure|table)\b|[~≈–]|约|約|几|左右|以上|लगभग/iu;
/** Words that qualify a member, but not a whole statement. */
const NEUTRAL = /^(?:after|although|but|only|once|though|to|was|were|when)$/i;
/** The words of a statement; one with a digit or a sign can be a value with a pattern or format. */
const TOKEN = /[^\s"'`*<>()[\]“”‘’,;。，、]+/gu;
/** A paragraph that starts the next question: the model went on after the answer. */
const TURN = /^(?:q|question|user|human|input|problem)\b[^\n]{0,9}:/i;
const LABEL = /^[\p{L} ]{1,30}:/gmu;
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
  if (type === 'array') {
    const items = readOnlyList([first, ...rest]);
    return items === undefined ? [] : [items];
  }
  if (first.length > MAX_TEXT_LENGTH || type === 'object') return [];
  const statements: unknown[] = [];
  const stated = first.replace(/^[\p{L} ]{1,30}:\s*/u, '');
  const names = root.members?.map(({ value }) => String(value).toLowerCase());
  const explains = (paragraph: string): boolean =>
    !isUncertain(paragraph) &&
    names?.every((name) => stated.toLowerCase().includes(name) || !paragraph.toLowerCase().includes(name)) === true;
  if (rest.length > 0 && (isRunOn(rest) || rest.every(explains))) statements.push(stated);
  if (text.length > MAX_TEXT_LENGTH || isUncertain(text)) return statements;
  if (/^(?:number|integer)$/.test(type) && !ESTIMATED.test(text)) {
    const numbers = [...spellDigits(text).matchAll(NUMBER)].map(([number]) => number);
    const [only = ''] = numbers;
    // A bare number could count anything, unless the statement is about it.
    const isStated = /[^\p{Nd}.,]/u.test(only) || STATES.test(text.slice(0, text.indexOf(only)));
    if (numbers.length === 1 && isStated) statements.push(...listNumberForms(context, root, only));
  } else if (type === 'string' && root.members === undefined) {
    const tokens = new Set((text.match(TOKEN) ?? []).map((token) => token.replace(/[.:!]+$/, '')));
    const [only, other] = [...tokens].filter((token) => /[\d@:/_-]/.test(token) && context.passes(root, token));
    if (only !== undefined && other === undefined) statements.push(only);
  }
  return statements;
}

/** A number with the words after it; without them, if they cannot be another unit than the schema's. */
function listNumberForms(context: AlignmentContext, root: AlignmentView, number: string): readonly string[] {
  const words = number.match(/\p{L}+(?:[.-]\p{L}+)*|\p{Sc}$/gu) ?? [];
  const [unit = '', second = ''] = words;
  const forms = [number, second === '' ? '' : number.slice(0, number.lastIndexOf(second)).trim()];
  const bare = number.replace(/(?<=\p{Nd})[^\p{Nd}]*$/u, '');
  const passing = forms.find(
    (form) => form !== '' && context.passes(root, context.align(root, form, { path: [], isElement: false }).value),
  );
  if (passing !== undefined) return [passing];
  return /[%‰]$/.test(number) || (root.words.size > 0 && isUnit(unit)) ? [] : [bare];
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

/** Writes numbers in Chinese characters as digits. */
function spellDigits(text: string): string {
  return text.replaceAll(HAN_NUMBER, (number) => {
    let [total, group, digit] = [0, 0, 0];
    for (const char of number.replaceAll('两', '二').replaceAll('〇', '零')) {
      const exponent = '十百千万'.indexOf(char) + 1;
      if (exponent === 0) digit = HAN_DIGITS.indexOf(char);
      else if (exponent === 4) [total, group, digit] = [(total + group + digit) * 10_000, 0, 0];
      else [group, digit] = [group + (digit || 1) * 10 ** exponent, 0];
    }
    return String(total + group + digit);
  });
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
    ? items.filter((item) => item !== undefined)
    : undefined;
}
