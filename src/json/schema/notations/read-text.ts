import type { AlignmentChange } from '../../index.js';
import { splitEnumeration } from '../align/align-array.js';
import { createChange, combineOutcomes } from '../align/rules.js';
import type { AlignmentContext, AlignmentRule, Outcome, ValueLocation } from '../align/rules.js';
import { jsonEquals } from '../json-values.js';
import { MAX_TEXT_LENGTH } from '../text/spelling.js';
import { matchKeys } from '../text/key-spelling.js';
import type { AlignmentView } from '../views/schema-views.js';
import { readNotation } from './notation-reader.js';
import { readItems, readMembers } from './read-lines.js';
import { listStatements } from './read-sentence.js';
import { findTable, readTable, splitCsv } from './read-table.js';
import { readYaml } from './read-yaml.js';
import { readXml } from './read-xml.js';
import { readFunctionCalls, readToolCalls, type ToolCall } from './tool-calls.js';

/** Maximum length of input that is read this way. */
const MAX_LENGTH = 100_000;

const ROOT: ValueLocation = { path: [], isElement: false };
const FENCE = /```[\w+.-]*[ \t]*\n([^]*?)```/g;
/** Words that rule out the value after them as the answer. */
const NON_ANSWER_WORDS = /\b(?:e\.g|example|format|instance|instead of|not|sample|schema|template)\b/i;
/** A chat template marker, which is never content: `<|python_tag|>`, `<|eom_id|>`. */
const CONTROL_TOKEN = /<\|\w{1,40}\|>/g;
const STARTS_WITH_KEY = /^(?:"[^"\n]{1,60}"|'[^'\n]{1,60}')\s*:/;
/** The rest of an object whose first brace and quote were given to the model as the start of its answer. */
const CONTINUED = /^[\w -]{1,60}"\s*:[^]*\}(?=\s*(?:```)?$)/;
/** Members in Python's notation: `title='A' body='B'`. */
const STARTS_WITH_NAME = /^(\w{1,60})=["'\d[({]/;
/** The boxed result of a mathematical answer. */
const BOX = /\\boxed\{\s{0,9}(?:\\(?:text|textbf|mathrm|mathbf)\{([^{}]{1,80})\}|([^{}]{1,80}))\s{0,9}\}/g;
/** A line that only announces the answer, and the rest. */
const INTRODUCTION =
  /^\s*(?:sure|certainly|of course|here(?:'s| is| are| you)|(?:the |my |final )*(?:answer|result|output)|hier (?:ist|sind)|voici|aquí)\b[^\n|:]{0,120}:[ \t]*\n([^]+)$/i;
/** A sentence that only states the answer. */
const ANSWER_SENTENCE = /^(?:(?:the|my|final|correct) ){0,3}(?:answer|result)(?: is|:) (\S{1,40}?)[.!]?$/i;
/** Labels and values on one line: `City: Oslo, Days: 3`. */
const STARTS_WITH_LABEL = /^([\p{L}_][\p{L}\p{N}_ .-]{0,60}?)\s*:[^\n]*$/u;
/** Rules that drop part of the input. */
const DROPPING_RULES: ReadonlySet<string> = new Set<AlignmentRule>(['extra_key', 'null_as_absent']);

interface TextReading {
  readonly value: unknown;
  readonly rule: AlignmentRule;
}

/**
 * Reads input that is not JSON: only after everything else has failed, and only if this yields exactly one value that
 * the schema accepts, with no key dropped. Otherwise undefined.
 */
export function readText(
  context: AlignmentContext,
  root: AlignmentView,
  isKnownKey: (key: string) => boolean,
  text: string,
): Outcome | undefined {
  // If nothing is required, nearly any reading would pass.
  const isOpen = root.types[0] === 'object' && root.groups.length === 0 && root.required.size === 0;
  if (text.length > MAX_LENGTH || isOpen) return undefined;
  let outcome: Outcome | undefined;
  for (const reading of listReadings(context, root, isKnownKey, text.replaceAll(CONTROL_TOKEN, ''))) {
    if (!context.useAttempt()) return undefined;
    const aligned = context.align(root, reading.value, ROOT);
    if (!context.passes(root, aligned.value) || aligned.changes.some(dropsInput)) continue;
    if (outcome !== undefined && !jsonEquals(outcome.value, aligned.value)) return undefined;
    outcome ??= combineOutcomes(createChange(ROOT.path, reading.rule, text, reading.value), aligned);
  }
  return outcome;
}

function dropsInput({ rule }: AlignmentChange): boolean {
  return DROPPING_RULES.has(rule);
}

/** Lists the values that the input could represent, each with the rule that read it. */
function* listReadings(
  context: AlignmentContext,
  root: AlignmentView,
  isKnownKey: (key: string) => boolean,
  text: string,
): Generator<TextReading> {
  const calls = readToolCalls(text) ?? [];
  if (calls.length > 0) {
    yield* listForms(calls);
    return;
  }
  const table = findTable(text);
  const records = table === undefined || NON_ANSWER_WORDS.test(table.before) ? undefined : readTable(table, isKnownKey);
  if (records !== undefined) yield { value: records, rule: 'loose_members' };
  const parts = listAnswerParts(text);
  if (parts.length > 0 && !text.includes('```'))
    for (const value of listStatements(context, root, text))
      yield { value, rule: Array.isArray(value) ? 'loose_lists' : 'lone_value' };
  for (const body of parts) {
    const isIntroduced = body !== text.trim() && text.trim().endsWith(body);
    yield* listForms(readFunctionCalls(body, isKnownKey) ?? []);
    const elements = readXml(body, isKnownKey);
    if (elements !== undefined) yield { value: elements, rule: 'xml_elements' };
    for (const closing of ['matching', 'innermost'] as const) {
      const [, label = ''] = STARTS_WITH_LABEL.exec(body) ?? STARTS_WITH_NAME.exec(body) ?? [];
      const [continued] = CONTINUED.exec(body) ?? [];
      const isBare = STARTS_WITH_KEY.test(body) || isKnownKey(label);
      const object = continued === undefined ? (isBare ? `{${body}}` : body) : `{"${continued}`;
      const read = readNotation(object, isKnownKey, closing);
      if (read === undefined) continue;
      const [rule] = object !== body ? ['loose_members' as const] : read.kinds;
      if (rule !== undefined) yield { value: read.value, rule };
      // The other reading differs only if a bracket did not match.
      if (!read.kinds.has('loose_brackets')) break;
    }
    const members = readMembers(body, isKnownKey, (key) => acceptsTextList(context, root, key));
    // A single `label: text` could be any sentence: it counts only if the value is a list, or if it is in a fence or a
    // box.
    const [first, second] = Object.values(members ?? {});
    const isConclusive = second !== undefined || Array.isArray(first) || (body !== text.trim() && !isIntroduced);
    if (members !== undefined && isConclusive) yield { value: members, rule: 'loose_members' };
    const nested = readYaml(body, isKnownKey);
    if (nested !== undefined) yield { value: nested, rule: 'loose_members' };
    const rows = splitCsv(body);
    const objects = rows === undefined ? undefined : readTable(rows, isKnownKey);
    if (objects !== undefined) yield { value: objects, rule: 'loose_members' };
    // A list after an introduction can contain anything.
    const items = isIntroduced
      ? undefined
      : (readItems(body) ?? (root.types.join() === 'array' ? readWords(body) : undefined));
    if (items !== undefined) yield { value: items, rule: 'loose_lists' };
    const wrapped = wrapLoneValue(context, root, body);
    if (wrapped !== undefined) yield { value: wrapped, rule: 'lone_value' };
  }
}

/** Reads an answer that is only an enumeration: `red, blue, green`. */
function readWords(body: string): readonly string[] | undefined {
  const words = splitEnumeration(body);
  return words !== undefined && words.length > 2 && !body.includes(':') ? words : undefined;
}

/** Whether a property accepts only lists of strings. */
function acceptsTextList(context: AlignmentContext, root: AlignmentView, key: string): boolean {
  const name = matchKeys([key], [...root.properties.keys()]).get(key) ?? key;
  const { types, items } = context.getView(root.properties.get(name) ?? [], name);
  const item = context.getView(items, '');
  return types.join('') === 'array' && item.types.join('') === 'string' && item.members === undefined;
}

/** Lists the possible forms of calls: only their parameters, or with the tool name. */
function listForms(calls: readonly ToolCall[]): readonly TextReading[] {
  const forms = [
    calls.map(({ parameters }) => parameters),
    calls.map(({ name, parameters }) => ({ name, arguments: parameters })),
    calls.map(({ name, parameters }) => ({ name, parameters })),
  ];
  return calls.length === 0
    ? []
    : forms.map((form) => ({ value: calls.length === 1 ? form[0] : form, rule: 'tool_call' }));
}

/**
 * Lists the parts of the input that could be the answer: the only fence, if any; otherwise the only box, if any;
 * otherwise the whole input, what follows an introduction, and the span from the first bracket or tag to the last.
 * Parts introduced as examples are omitted.
 */
function listAnswerParts(text: string): readonly string[] {
  const [fence, another] = text.matchAll(FENCE);
  if (fence !== undefined) {
    const isAnswer = another === undefined && !NON_ANSWER_WORDS.test(text.slice(0, fence.index));
    return isAnswer ? [(fence[1] ?? '').trim()] : [];
  }
  const boxes = new Set([...text.matchAll(BOX)].map(([, words, plain]) => (words ?? plain ?? '').trim()));
  if (boxes.size > 0) return boxes.size === 1 ? [...boxes] : [];
  const brackets = extractSpan(text, /[[{]/, Math.max(text.lastIndexOf('}'), text.lastIndexOf(']')));
  const elements = extractSpan(text, /<[\p{L}_!?]/u, text.lastIndexOf('>'));
  const [, announced = ''] = INTRODUCTION.exec(text) ?? [];
  const isAnswer = announced !== '' && !NON_ANSWER_WORDS.test(text.slice(0, -announced.length));
  const members = findMemberLines(text);
  return [...new Set([text.trim(), ...(isAnswer ? [announced.trim()] : []), ...members, ...brackets, ...elements])];
}

/** The only paragraph of labelled lines, between a heading or an announcement and an offer. */
function findMemberLines(text: string): readonly string[] {
  const paragraphs = text.split(/\n\s*\n/).map((paragraph) => paragraph.trim());
  const [only, other] = paragraphs.filter((paragraph) => /^[^\n]{1,60}?[:：=][^\n]*\S\n/.test(paragraph));
  return only === undefined || other !== undefined || NON_ANSWER_WORDS.test(text.slice(0, text.indexOf(only)))
    ? []
    : [only];
}

/** Extracts the text from the first match of `opening` to the index `last`. */
function extractSpan(text: string, opening: RegExp, last: number): readonly string[] {
  const first = text.search(opening);
  const isFormat = /^\s*as (?:an?|the|your) (?:example|format|structure|template)/i.test(text.slice(last + 1));
  return first === -1 || last <= first || isFormat || NON_ANSWER_WORDS.test(text.slice(0, first))
    ? []
    : [text.slice(first, last + 1)];
}

/** Reads a scalar, or wraps it if only one property can contain it and no other is required. Free text counts only in quotes. */
function wrapLoneValue(context: AlignmentContext, root: AlignmentView, body: string): unknown {
  if (root.groups.length > 0 || body.length > MAX_TEXT_LENGTH) return undefined;
  const scalar = readScalar(body);
  if (root.members !== undefined || /^(?:number|integer|boolean)$/.test(root.types.join()))
    return scalar ?? body.replace(ANSWER_SENTENCE, '$1');
  if (root.types[0] !== 'object') return undefined;
  // Text with brackets or quotes was meant to be more than a word.
  if (scalar === undefined && /[[\]{}()"]/.test(body)) return undefined;
  const candidates = [...root.properties].filter(([name, nodes]) => {
    const view = context.getView(nodes, name);
    if (view.types.some((type) => type === 'array' || type === 'object')) return false;
    // Free text matches this property, but might be a refusal by the model: as a candidate it is rejected below.
    if (scalar === undefined && view.members === undefined && view.types.includes('string')) return true;
    return context.passes(view, context.align(view, scalar ?? body, { path: [name], isElement: false }).value);
  });
  const exactMatches = candidates.filter(([name, nodes]) =>
    context.passes(context.getView(nodes, name), scalar ?? body),
  );
  const [only, other] = exactMatches.length > 0 ? exactMatches : candidates;
  if (only === undefined || other !== undefined || [...root.required].some((name) => name !== only[0]))
    return undefined;
  const view = context.getView(only[1], only[0]);
  const isFreeText = scalar === undefined && view.members === undefined && view.types.includes('string');
  return isFreeText ? undefined : Object.fromEntries([[only[0], scalar ?? body]]);
}

function readScalar(text: string): string | number | boolean | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
  } catch {
    return undefined;
  }
}
