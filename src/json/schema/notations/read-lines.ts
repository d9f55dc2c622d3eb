import { setOwnValue } from '../json-schema.js';
import { canStartItem, splitEnumeration } from '../align/align-array.js';
import { unescape } from './notation-reader.js';

const MEMBER =
  /^\s*(?:[-*•]\s+)?[*_]{0,2}["']?([\p{L}_][\p{L}\p{N}_ .()-]{0,60}?)["']?[*_]{0,2}\s*[:：=]\s*(?:[*_]{1,2}\s*)?(\S.*)?$/u;
export const ITEM = /^\s*(?:[-*•]|\d{1,3}[.)])\s+(\S.*)$/u;
const LINE_END = /\r?\n/;
const QUOTED = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')$/u;
const LITERAL = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;
/**
 * A blank line, or the separator between YAML documents. Lines must be trimmed: a pattern with white space at both ends
 * takes quadratic time.
 */
export const NO_CONTENT = /^(?:---|\.\.\.)?$/;
/** A block string on the following, indented lines; with `-` it does not end with a line break. */
const BLOCK = /^\|(-?)\s*$/;

/**
 * Reads an object that is written as lines of `key: value`, with lists as lines of `- item` and multi-line strings as
 * in YAML; `Ann, Bob` is a list for keys that expect one. Every line must have one of these forms, and every key must
 * be known and unique; otherwise undefined.
 */
export function readMembers(
  text: string,
  isKnownKey: (key: string) => boolean,
  acceptsTextList: (key: string) => boolean,
): Record<string, unknown> | undefined {
  const members: Record<string, unknown> = {};
  const lines = text.split(LINE_END);
  let list: unknown[] | undefined;
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    if (NO_CONTENT.test(line.trim())) continue;
    const [, label = '', rawValue = ''] = MEMBER.exec(line) ?? [];
    // `Height (cm)` names `height_cm`.
    const key = isKnownKey(label) ? label : label.replaceAll(/[()]/g, '');
    const item = ITEM.exec(line)?.[1];
    if (key !== '' && isKnownKey(key)) {
      if (Object.hasOwn(members, key)) return undefined;
      const block = BLOCK.exec(rawValue);
      const content = block === null ? [] : readIndented(lines.slice(index + 1));
      index += content.length;
      list = rawValue.trim() === '' ? [] : undefined;
      const items = list ?? (acceptsTextList(key) ? splitEnumeration(rawValue) : undefined);
      const value = block === null ? (items ?? readLineValue(rawValue)) : joinBlock(content, block[1] === '-');
      if (value === undefined) return undefined;
      setOwnValue(members, key, value);
    } else if (item !== undefined && list !== undefined) {
      const value = readLineValue(item);
      if (value === undefined) return undefined;
      list.push(value);
    } else {
      return undefined;
    }
  }
  // A key without a value is not an answer.
  const isEmpty = Object.values(members).some((value) => Array.isArray(value) && value.length === 0);
  return isEmpty ? undefined : members;
}

/**
 * Reads input that is only a list, with `- Chop` or `1. Chop` on each line and no indentation; undefined if it contains
 * anything else, or an item that starts like a sentence about the answer.
 */
export function readItems(text: string): readonly string[] | undefined {
  const lines = text.split(LINE_END).filter((line) => line.trim() !== '');
  const items = lines.map((line) => (/^\S/.test(line) ? ITEM.exec(line)?.[1]?.trim() : undefined));
  const isList = items.length > 1 && items.every((item) => item !== undefined && isPlainItem(item));
  return isList ? removeCodeMarks(items.filter((item) => item !== undefined)) : undefined;
}

/** Removes the code marks around every item. */
export function removeCodeMarks(items: readonly string[]): readonly string[] {
  return items.every((item) => /^`[^`]+`$/.test(item)) ? items.map((item) => item.slice(1, -1)) : items;
}

/** Whether an item is plain text: not a label with its value, a checkbox or a table cell. */
function isPlainItem(item: string): boolean {
  return canStartItem(item, 60) && !/^[*_[]|: |[|]/.test(item);
}

/** Returns the leading indented lines, and the blank lines between them. */
function readIndented(lines: readonly string[]): readonly string[] {
  const end = lines.findIndex((line) => /^\S/.test(line));
  return end === -1 ? lines : lines.slice(0, end);
}

/** Joins indented lines without their common indentation; undefined if they are all blank. */
function joinBlock(lines: readonly string[], isStripped: boolean): string | undefined {
  const nonBlankLines = lines.filter((line) => line.trim() !== '');
  if (nonBlankLines.length === 0) return undefined;
  const indent = Math.min(...nonBlankLines.map((line) => line.search(/\S/)));
  const content = lines
    .map((line) => line.slice(indent))
    .join('\n')
    .trimEnd();
  return isStripped ? content : `${content}\n`;
}

/** Reads the value on a line. A comment counts only after quotes or a literal: elsewhere it can be content. */
export function readLineValue(text: string): unknown {
  const plain = text.trim().replace(/,$/, '');
  // A remark in place of a value: `(not mentioned)`.
  if (/^[(（][^()（）]+[)）]$/u.test(plain)) return undefined;
  const comment = plain.search(/\s#\s/u);
  const bare = comment === -1 ? plain : plain.slice(0, comment).trimEnd();
  for (const rawValue of [plain, bare]) {
    const quoted = QUOTED.exec(rawValue);
    if (quoted !== null) return unescape(quoted[1] ?? quoted[2] ?? '');
    if (LITERAL.test(rawValue)) return JSON.parse(rawValue);
  }
  return bare === plain ? plain : undefined;
}
