import { isJsonObject } from '../json-schema.js';
import type { AlignmentView } from '../views/schema-views.js';
import type { AlignmentContext, ValueLocation, AlignmentRule, Outcome } from './rules.js';
import { readBoolean, isNullText } from '../text/plain-values.js';
import { choose, ENUM_PLACEMENT } from '../text/choices.js';
import { readDate, readDateTime } from '../text/dates.js';
import { foldCase, MAX_TEXT_LENGTH } from '../text/spelling.js';
import { readNumber } from '../text/numbers.js';
import { createChange, combineOutcomes, keepValue } from './rules.js';

/** A value and the rule that produced it. */
interface ScalarReading {
  readonly value: unknown;
  readonly rule: AlignmentRule;
}

/** Quotes of any kind, or angle brackets around links. */
const WRAPPING = /^\s*(["'`]{1,3}|[<“‘「])([^"'`<>“”‘’「」]+)(?:\1|[>”’」])\s*$/u;

/** A Markdown link whose text is its target. */
const LINK = /^\s*\[([^[\]()\s]+)\]\((?:mailto:)?([^()\s]+)\)\s*$/;

/** Generic keys, from which a scalar may be unwrapped. */
const GENERIC_KEYS = new Set(['value', 'result', 'answer', 'output', 'response', 'text', 'content', 'data']);

/** Aligns a value to a string, number, boolean or null. A change is made only if it makes the value valid. */
export function alignScalar(
  context: AlignmentContext,
  view: AlignmentView,
  value: unknown,
  location: ValueLocation,
): Outcome {
  for (const reading of listReadings(context, view, value)) {
    if (context.passes(view, reading.value)) return createChange(location.path, reading.rule, value, reading.value);
  }
  const unwrapped = unwrapValue(value);
  if (unwrapped === undefined || !context.useAttempt()) return keepValue(value);
  const inner = context.align(view, unwrapped.value, location);
  // In a list, `"a"[1]` is an item with a footnote, not two items.
  const isNote = location.isElement && inner.changes.length > 0;
  if (isNote || !context.passes(view, inner.value)) return keepValue(value);
  return combineOutcomes(createChange(location.path, unwrapped.rule, value, unwrapped.value), inner);
}

/** Lists the possible readings of a value, most likely first. */
function* listReadings(context: AlignmentContext, view: AlignmentView, value: unknown): Generator<ScalarReading> {
  const type = view.types[0];
  if (view.members !== undefined) {
    const chosen = chooseMember(context, view, value);
    if (chosen !== undefined) yield chosen;
  }
  if (type === 'null' && isNullText(value)) yield { value: null, rule: 'null_text' };
  if (type === 'boolean') {
    const read = readBoolean(value);
    if (read !== undefined) yield { value: read, rule: 'boolean_text' };
  }
  if ((type === 'number' || type === 'integer') && typeof value === 'string') {
    const [only, other] = readNumber(value, view).filter((read) => context.passes(view, read.value));
    if (only !== undefined && other === undefined) yield only;
  }
  if (type === 'string') yield* listTextReadings(context, view, value);
}

function* listTextReadings(context: AlignmentContext, view: AlignmentView, value: unknown): Generator<ScalarReading> {
  const scalarText = typeof value === 'number' ? context.findDigits(value) : formatScalar(value);
  if (scalarText !== undefined) yield { value: scalarText, rule: 'scalar_to_text' };
  if (typeof value !== 'string') return;
  if (value.trim() !== value) yield { value: value.trim(), rule: 'trimmed' };
  const inner = value.length > MAX_TEXT_LENGTH ? undefined : WRAPPING.exec(value)?.[2];
  if (inner !== undefined) yield { value: inner.trim(), rule: 'trimmed' };
  const [, label, target] = (value.length > MAX_TEXT_LENGTH ? undefined : LINK.exec(value)) ?? [];
  if (label !== undefined && label === target) yield { value: label, rule: 'trimmed' };
  const date = view.format === 'date' ? readDate(value) : view.format === 'date-time' ? readDateTime(value) : undefined;
  if (date !== undefined) yield { value: date, rule: 'date_notation' };
}

function formatScalar(value: unknown): string | undefined {
  return typeof value === 'bigint' || typeof value === 'boolean' ? String(value) : undefined;
}

/** An enum member, or a constant, can be surrounded by words. */
function chooseMember(context: AlignmentContext, view: AlignmentView, value: unknown): ScalarReading | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') {
    const text = typeof value === 'number' ? context.findDigits(value) : String(value);
    return view.members?.some((member) => member.value === text) === true
      ? { value: text, rule: 'scalar_to_text' }
      : undefined;
  }
  if (typeof value !== 'string') return undefined;
  return choose(value, view.choices(), ENUM_PLACEMENT);
}

/** Unwraps a single-item list, or an object with one generic key. */
function unwrapValue(value: unknown): { value: unknown; rule: AlignmentRule } | undefined {
  if (Array.isArray(value)) return value.length === 1 ? { value: value[0], rule: 'list_to_item' } : undefined;
  if (!isJsonObject(value)) return undefined;
  const [key, ...others] = Object.keys(value);
  if (key === undefined || others.length > 0 || !GENERIC_KEYS.has(foldCase(key))) return undefined;
  return { value: value[key], rule: 'unwrapped' };
}
