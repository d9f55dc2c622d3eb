import { setOwnValue } from '../json-schema.js';
import { unescape } from './loose-reader.js';

const MEMBER =
  /^\s*(?:[-*•]\s+)?[*_]{0,2}["']?([\p{L}_][\p{L}\p{N}_ .-]{0,60}?)["']?[*_]{0,2}\s*[:：=]\s*[*_]{0,2}\s*(.*)$/u;
const ITEM = /^\s*[-*•]\s+(.+)$/u;
const QUOTED = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')$/u;
const LITERAL = /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

/**
 * Reads an object that is written as lines of `key: value`, with lists as lines of `- item`. Every line must be one of
 * these, every key known and said once: undefined otherwise.
 */
export function readMembers(text: string, isKnownKey: (key: string) => boolean): Record<string, unknown> | undefined {
  const members: Record<string, unknown> = {};
  let list: unknown[] | undefined;
  for (const line of text.split('\n')) {
    if (/^\s*$/.test(line)) continue;
    const [, key = '', value = ''] = MEMBER.exec(line) ?? [];
    const item = ITEM.exec(line)?.[1];
    if (key !== '' && isKnownKey(key)) {
      if (Object.hasOwn(members, key)) return undefined;
      list = value.trim() === '' ? [] : undefined;
      setOwnValue(members, key, list ?? readScalar(value));
    } else if (item !== undefined && list !== undefined) {
      list.push(readScalar(item));
    } else {
      return undefined;
    }
  }
  // A key without a value says nothing.
  const isEmpty = Object.values(members).some((value) => Array.isArray(value) && value.length === 0);
  return isEmpty ? undefined : members;
}

function readScalar(text: string): unknown {
  const plain = text.trim().replace(/,$/, '');
  const quoted = QUOTED.exec(plain);
  if (quoted !== null) return unescape(quoted[1] ?? quoted[2] ?? '');
  return LITERAL.test(plain) ? JSON.parse(plain) : plain;
}
