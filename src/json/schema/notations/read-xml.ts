import { setOwnValue } from '../json-schema.js';
import { mayContainAnswer } from '../text/key-spelling.js';

/** An element being read. */
interface Element {
  readonly name: string;
  text: string;
  readonly children: { readonly name: string; readonly value: unknown }[];
}

const MAX_DEPTH = 64;
/** A tag without attributes, a CDATA section, a comment or declaration, or text up to the next tag. */
const TOKEN =
  /<(\/?)([\p{L}_][\p{L}\p{N}_.:-]{0,60})\s*(\/?)>|<!\[CDATA\[([^]*?)\]\]>|<!--[^]*?-->|<\?xml[^>]{0,200}\?>|([^<]+)/uy;
const ENTITY = /&(?:(lt|gt|amp|quot|apos)|#(\d{1,7})|#x([\da-f]{1,6}));/gi;
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/**
 * Reads plain XML: elements with elements inside are objects, all others text. Repeated elements whose name is not a
 * key of the schema become a list, and a single such element around everything is unwrapped. Undefined for anything
 * else: attributes, text between elements, an unmatched tag, or a root such as `<example>` that is not an answer.
 */
export function readXml(text: string, isKnownKey: (key: string) => boolean): unknown {
  const root: Element = { name: '', text: '', children: [] };
  const open = [root];
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length;) {
    const match = TOKEN.exec(text);
    const top = open.at(-1);
    if (match === null || top === undefined) return undefined;
    const [, closingSlash, name, emptySlash, section = '', words = ''] = match;
    top.text += section + decode(words);
    if (name === undefined) continue;
    if (closingSlash === '') open.push({ name, text: '', children: [] });
    if (closingSlash === '' && emptySlash === '') {
      if (open.length > MAX_DEPTH) return undefined;
      continue;
    }
    const closed = open.pop();
    const value = closed?.name === name ? toValue(closed, isKnownKey) : undefined;
    if (value === undefined) return undefined;
    open.at(-1)?.children.push({ name, value });
  }
  const [first, second] = root.children;
  if (open.length > 1 || first === undefined || root.text.trim() !== '') return undefined;
  if (second !== undefined || isKnownKey(first.name)) return toValue(root, isKnownKey);
  return mayContainAnswer(first.name) ? first.value : undefined;
}

function toValue({ text, children }: Element, isKnownKey: (key: string) => boolean): unknown {
  const [first] = children;
  if (first === undefined) return text.trim();
  if (text.trim() !== '') return undefined;
  if (!isKnownKey(first.name) && children.every(({ name }) => name === first.name))
    return children.map(({ value }) => value);
  const members = new Map<string, unknown[]>();
  for (const { name, value } of children) {
    const values = members.get(name);
    if (values === undefined) members.set(name, [value]);
    else values.push(value);
  }
  const object: Record<string, unknown> = {};
  for (const [name, values] of members) setOwnValue(object, name, values.length > 1 ? values : values[0]);
  return object;
}

function decode(text: string): string {
  return text.replaceAll(ENTITY, (entity, name?: string, decimal?: string, hexadecimal?: string) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? entity;
    const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
    const isCharacter = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : entity;
  });
}
