import { setOwnValue } from '../json-schema.js';
import { splitEnumeration } from '../align/align-array.js';
import { unescape } from './loose-reader.js';

const MEMBER =
  /^\s*(?:[-*•]\s+)?[*_]{0,2}["']?([\p{L}_][\p{L}\p{N}_ .-]{0,60}?)["']?[*_]{0,2}\s*[:：=]\s*[*_]{0,2}\s*(.*)$/u;
const ITEM = /^\s*(?:[-*•]|\d{1,3}[.)])\s+(.+)$/u;
const QUOTED = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')$/u;
const LITERAL = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;
/** Blank lines, and the marks between documents of YAML. */
const NO_CONTENT = /^\s*(?:---|\.\.\.)?\s*$/;
/** A text over the next lines, which are indented; with `-` it does not end with a line break. */
const BLOCK = /^\|(-?)\s*$/;

/**
 * Reads an object that is written as lines of `key: value`, with lists as lines of `- item` and texts over several lines as
 * in YAML; `Ann, Bob` is a list for keys that hold one. Every line must be one of these, every key
 * known and unique: undefined otherwise.
 */
export function readMembers(
  text: string,
  isKnownKey: (key: string) => boolean,
  holdsTexts: (key: string) => boolean,
): Record<string, unknown> | undefined {
  const members: Record<string, unknown> = {};
  const lines = text.split('\n');
  let list: unknown[] | undefined;
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    if (NO_CONTENT.test(line)) continue;
    const [, key = '', written = ''] = MEMBER.exec(line) ?? [];
    const item = ITEM.exec(line)?.[1];
    if (key !== '' && isKnownKey(key)) {
      if (Object.hasOwn(members, key)) return undefined;
      const block = BLOCK.exec(written);
      const content = block === null ? [] : takeIndented(lines.slice(index + 1));
      index += content.length;
      list = written.trim() === '' ? [] : undefined;
      const items = list ?? (holdsTexts(key) ? splitEnumeration(written) : undefined);
      const value = block === null ? (items ?? readLineValue(written)) : joinBlock(content, block[1] === '-');
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
  // A key without a value says nothing.
  const isEmpty = Object.values(members).some((value) => Array.isArray(value) && value.length === 0);
  return isEmpty ? undefined : members;
}

/** The lines that are indented, and blank ones between them. */
function takeIndented(lines: readonly string[]): readonly string[] {
  const end = lines.findIndex((line) => /^\S/.test(line));
  return end === -1 ? lines : lines.slice(0, end);
}

/** The text of indented lines without their common indentation; undefined if there is none. */
function joinBlock(lines: readonly string[], isStripped: boolean): string | undefined {
  const said = lines.filter((line) => line.trim() !== '');
  if (said.length === 0) return undefined;
  const indent = Math.min(...said.map((line) => line.search(/\S/)));
  const content = lines
    .map((line) => line.slice(indent))
    .join('\n')
    .trimEnd();
  return isStripped ? content : `${content}\n`;
}

/** A value up to the end of its line. A comment counts only after quotes or a literal: elsewhere it may be content. */
function readLineValue(text: string): unknown {
  const plain = text.trim().replace(/,$/, '');
  const [, bare = plain] = /^(.*?)\s+#\s.*$/u.exec(plain) ?? [];
  for (const written of [plain, bare]) {
    const quoted = QUOTED.exec(written);
    if (quoted !== null) return unescape(quoted[1] ?? quoted[2] ?? '');
    if (LITERAL.test(written)) return JSON.parse(written);
  }
  return bare === plain ? plain : undefined;
}
