import type { AlignmentChange } from '../../json/index.js';
import { changed, combineOutcomes } from '../align/rules.js';
import type { Aligning, AlignmentRule, Outcome, Place } from '../align/rules.js';
import { jsonEquals } from '../json-values.js';
import { MAX_TEXT_LENGTH } from '../text/spelling.js';
import { matchKeys } from '../text/key-spelling.js';
import type { AlignmentView } from '../views/schema-views.js';
import { readLoosely } from './loose-reader.js';
import { readMembers } from './read-lines.js';
import { readXml } from './read-xml.js';
import { readFunctionCalls, readToolCalls, type ToolCall } from './tool-calls.js';

/** Maximum length of a text that is read this way. */
const LONGEST = 100_000;

const ROOT: Place = { path: [], isElement: false };
const FENCE = /```[\w+.-]*[ \t]*\n([^]*?)```/g;
/** Words before a value that is not the answer. */
const NO_ANSWER = /\b(?:e\.g|example|format|instance|instead of|not|sample|schema|template)\b/i;
const STARTS_WITH_KEY = /^(?:"[^"\n]{1,60}"|'[^'\n]{1,60}')\s*:/;
/** Members as Python writes them: `title='A' body='B'`. */
const STARTS_WITH_NAME = /^(\w{1,60})=["'\d[({]/;
/** The marked result of a mathematical answer. */
const BOX = /\\boxed\{\s*(?:\\(?:text|textbf|mathrm|mathbf)\{([^{}]{1,80})\}|([^{}]{1,80}))\s*\}/g;
/** Labels and values in one line: `City: Oslo, Days: 3`. */
const STARTS_WITH_LABEL = /^([\p{L}_][\p{L}\p{N}_ .-]{0,60}?)\s*:[^\n]*$/u;
/** Rules that drop part of the text. */
const DROPPING: ReadonlySet<string> = new Set<AlignmentRule>(['extra_key', 'null_as_absent']);

interface Reading {
  readonly value: unknown;
  readonly rule: AlignmentRule;
}

/**
 * Reads a text more leniently than as JSON: only after everything else has failed, and only if this yields exactly one value that
 * the schema accepts, with no key dropped. Undefined otherwise.
 */
export function readBoldly(
  aligning: Aligning,
  root: AlignmentView,
  isKnownKey: (key: string) => boolean,
  text: string,
): Outcome | undefined {
  // Where nothing is required, nearly any reading would pass.
  const isOpen = root.types[0] === 'object' && root.groups.length === 0 && root.required.size === 0;
  if (text.length > LONGEST || isOpen) return undefined;
  let found: Outcome | undefined;
  for (const reading of listReadings(aligning, root, isKnownKey, text)) {
    if (!aligning.mayTry()) return undefined;
    const aligned = aligning.align(root, reading.value, ROOT);
    if (!aligning.passes(root, aligned.value) || aligned.changes.some(isDropping)) continue;
    if (found !== undefined && !jsonEquals(found.value, aligned.value)) return undefined;
    found ??= combineOutcomes(changed(ROOT.path, reading.rule, text, reading.value), aligned);
  }
  return found;
}

function isDropping({ rule }: AlignmentChange): boolean {
  return DROPPING.has(rule);
}

function* listReadings(
  aligning: Aligning,
  root: AlignmentView,
  isKnownKey: (key: string) => boolean,
  text: string,
): Generator<Reading> {
  const calls = readToolCalls(text) ?? [];
  if (calls.length > 0) {
    yield* listForms(calls);
    return;
  }
  for (const body of findBodies(text)) {
    yield* listForms(readFunctionCalls(body, isKnownKey) ?? []);
    const elements = readXml(body, isKnownKey);
    if (elements !== undefined) yield { value: elements, rule: 'xml_elements' };
    for (const closing of ['matching', 'innermost'] as const) {
      const [, label = ''] = STARTS_WITH_LABEL.exec(body) ?? STARTS_WITH_NAME.exec(body) ?? [];
      const isBare = STARTS_WITH_KEY.test(body) || isKnownKey(label);
      const read = readLoosely(isBare ? `{${body}}` : body, isKnownKey, closing);
      if (read === undefined) continue;
      const [rule] = isBare ? ['loose_members' as const] : read.kinds;
      if (rule !== undefined) yield { value: read.value, rule };
      // The other reading differs only if a bracket did not match.
      if (!read.kinds.has('loose_brackets')) break;
    }
    const members = readMembers(body, isKnownKey, (key) => holdsTexts(aligning, root, key));
    // A single label may stand before any sentence, but not before a list.
    const [first, second] = Object.values(members ?? {});
    const isEnough = second !== undefined || Array.isArray(first) || body !== text.trim();
    if (members !== undefined && isEnough) yield { value: members, rule: 'loose_members' };
    const wrapped = wrapLoneValue(aligning, root, body);
    if (wrapped !== undefined) yield { value: wrapped, rule: 'lone_value' };
  }
}

/** Whether a property takes nothing but lists of texts. */
function holdsTexts(aligning: Aligning, root: AlignmentView, key: string): boolean {
  const name = matchKeys([key], [...root.properties.keys()]).get(key) ?? key;
  const { types, items } = aligning.getView(root.properties.get(name) ?? [], name);
  const item = aligning.getView(items, '');
  return types.join('') === 'array' && item.types.join('') === 'string' && item.members === undefined;
}

/** Lists the possible forms of calls: their parameters alone, or with the name of the tool. */
function listForms(calls: readonly ToolCall[]): readonly Reading[] {
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
 * Where the answer may be: in the only fence or box, or the whole text, or from the first bracket or tag to the last; not after words
 * that call it an example.
 */
function findBodies(text: string): readonly string[] {
  const [fence, another] = text.matchAll(FENCE);
  if (fence !== undefined) {
    const isAnswer = another === undefined && !NO_ANSWER.test(text.slice(0, fence.index));
    return isAnswer ? [(fence[1] ?? '').trim()] : [];
  }
  const boxes = new Set([...text.matchAll(BOX)].map(([, words, plain]) => (words ?? plain ?? '').trim()));
  if (boxes.size > 0) return boxes.size === 1 ? [...boxes] : [];
  const brackets = cutOut(text, /[[{]/, Math.max(text.lastIndexOf('}'), text.lastIndexOf(']')));
  const elements = cutOut(text, /<[\p{L}_!?]/u, text.lastIndexOf('>'));
  return [...new Set([text.trim(), ...brackets, ...elements])];
}

function cutOut(text: string, opening: RegExp, last: number): readonly string[] {
  const first = text.search(opening);
  return first === -1 || last <= first || NO_ANSWER.test(text.slice(0, first)) ? [] : [text.slice(first, last + 1)];
}

/** A scalar, itself or as an object, where only one property can hold it and no other is required. Free text counts only in quotes. */
function wrapLoneValue(aligning: Aligning, root: AlignmentView, body: string): unknown {
  if (root.groups.length > 0 || body.length > MAX_TEXT_LENGTH) return undefined;
  const scalar = readScalar(body);
  if (root.members !== undefined || /^(?:number|integer|boolean)$/.test(root.types.join())) return scalar ?? body;
  if (root.types[0] !== 'object') return undefined;
  // Text with brackets or quotes was intended as more than a word.
  if (scalar === undefined && /[[\]{}()"]/.test(body)) return undefined;
  const holders = [...root.properties].filter(([name, nodes]) => {
    const view = aligning.getView(nodes, name);
    if (view.types.some((type) => type === 'array' || type === 'object')) return false;
    // Words that a property of any text would take may be a refusal.
    if (scalar === undefined && view.members === undefined && view.types.includes('string')) return true;
    return aligning.passes(view, aligning.align(view, scalar ?? body, { path: [name], isElement: false }).value);
  });
  const exact = holders.filter(([name, nodes]) => aligning.passes(aligning.getView(nodes, name), scalar ?? body));
  const [only, other] = exact.length > 0 ? exact : holders;
  if (only === undefined || other !== undefined || [...root.required].some((name) => name !== only[0]))
    return undefined;
  const view = aligning.getView(only[1], only[0]);
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
