import { setOwnValue } from '../json-schema.js';
import { NO_CONTENT, readLineValue } from './read-lines.js';

/** A line with content, and the column it starts in. */
interface Line {
  readonly indent: number;
  readonly content: string;
}

const MAX_DEPTH = 32;
const MEMBER = /^["']?([\p{L}_][\p{L}\p{N}_ .-]{0,60}?)["']?:(?:\s+(\S.*))?$/u;
const ITEM = /^-(\s+)(\S.*)$/u;
/** Notations that are not supported here: multi-line strings, anchors, aliases, tags, inline objects and lists. */
const OTHER_NOTATION = /^[|>&*!{[]/;

/**
 * Reads nested objects and lists written as YAML, by their indentation. Every line must be a known key or an item, and
 * every key must be unique and have a value; otherwise undefined. Flat objects and lists are handled by
 * `read-lines.ts`.
 */
export function readYaml(text: string, isKnownKey: (key: string) => boolean): unknown {
  const lines: Line[] = text
    .split('\n')
    .filter((line) => !NO_CONTENT.test(line.trim()))
    .map((line) => ({ indent: line.search(/\S/), content: line.trim() }));
  let at = 0;
  const value = readBlock(lines[0]?.indent ?? 0, 0);
  const isNested = Object.values(value ?? {}).some((part) => typeof part === 'object' && part !== null);
  return at === lines.length && isNested ? value : undefined;

  function readBlock(indent: number, depth: number): unknown {
    if (depth > MAX_DEPTH) return undefined;
    return ITEM.test(lines[at]?.content ?? '') ? readList(indent, depth) : readObject(indent, depth);
  }

  function readList(indent: number, depth: number): unknown {
    const items: unknown[] = [];
    for (let line = lines[at]; line?.indent === indent; line = lines[at]) {
      const [, gap = '', content = ''] = ITEM.exec(line.content) ?? [];
      if (content === '') break;
      // What follows the dash starts an object in its own column, or is the whole item.
      const column = indent + 1 + gap.length;
      lines[at] = { indent: column, content };
      const item = MEMBER.test(content) ? readObject(column, depth + 1) : readScalar(content);
      if (item === undefined) return undefined;
      items.push(item);
    }
    return items.length > 0 ? items : undefined;
  }

  function readObject(indent: number, depth: number): unknown {
    const object: Record<string, unknown> = {};
    for (let line = lines[at]; line?.indent === indent; line = lines[at]) {
      const [, key = '', rawValue] = MEMBER.exec(line.content) ?? [];
      if (ITEM.test(line.content)) break;
      if (key === '' || !isKnownKey(key) || Object.hasOwn(object, key)) return undefined;
      const member = rawValue === undefined ? readMember(indent, depth) : readScalar(rawValue);
      if (member === undefined) return undefined;
      setOwnValue(object, key, member);
    }
    return Object.keys(object).length > 0 ? object : undefined;
  }

  /** Reads the lines under a key: deeper lines, or a list in the same column. */
  function readMember(indent: number, depth: number): unknown {
    at += 1;
    const next = lines[at];
    if (next === undefined || next.indent < indent || (next.indent === indent && !ITEM.test(next.content)))
      return undefined;
    return readBlock(next.indent, depth + 1);
  }

  function readScalar(rawValue: string): unknown {
    at += 1;
    return OTHER_NOTATION.test(rawValue) ? undefined : readLineValue(rawValue);
  }
}
