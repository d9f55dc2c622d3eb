import { setOwnValue } from '../json-schema.js';

/** A deviation from JSON that the readers of `sluice/json` do not repair. */
export type LooseKind = 'loose_brackets' | 'loose_lists' | 'loose_text' | 'loose_members' | 'tool_call';

/** A value read loosely, and its deviations from JSON. */
export interface LooseReading {
  readonly value: unknown;
  readonly kinds: ReadonlySet<LooseKind>;
}

/** Which bracket a mismatched closing bracket closes: the nearest open bracket of its kind, or the innermost. */
export type ClosingRule = 'matching' | 'innermost';

/** An object or list that is being read. */
interface Frame {
  readonly open: string;
  /** Undefined once the braces are known to be a set. */
  members: Record<string, unknown> | undefined;
  readonly items: unknown[];
  key: string | undefined;
  commas: number;
  /** It continued after its closing bracket, so it need not be closed again. */
  isReopened: boolean;
}

const MAX_DEPTH = 64;
const PAIRS: Readonly<Record<string, string>> = { '}': '{', ']': '[', ')': '(' };

const SPACE = /\s*/y;
const KEY = /(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|([\p{L}_$][\p{L}\p{N}_$ .-]{0,60}?))\s*(?::|=>?(?!=))/uy;
const STRING = /(?:"([^"\\]*(?:\\[^][^"\\]*)*)"|'([^'\\]*(?:\\[^][^'\\]*)*)')(?=\s*(?:[,}\])]|$|\s\w+=))/y;
const LITERAL = /(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|True|False|None)(?=\s*(?:[,}\])]|$|\s\w+=))/y;
const LITERALS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['True', true],
  ['False', false],
  ['None', null],
]);
/** The end of text without quotes: a bracket that ends its object, or the next key. */
const END_BRACKET = /[}\]]\s*(?=[,}\])]|$)/g;
const NEXT_KEY = /(?:,\s*|\n[^\S\n]*)["'“]?([\p{L}_][\p{L}\p{N}_ .-]{0,60}?)["'”]?\s*:/gu;
const CALL = /[\p{L}_][\p{L}\p{N}_.]*\(/uy;
/** A Python string with a prefix, `b'x'` or `f"x"`: accepted if it has no placeholders and no escapes. */
const PREFIX = /^[A-Za-z]{1,2}'/;
const PREFIXED_STRING = /[bfru]{1,2}(?:"([^"\\{}\n]*)"|'([^'\\{}\n]*)')(?=\s*(?:[,}\])]|$))/iy;
/** A call with named arguments only. */
const NAMED_CALL = /[\p{L}_][\p{L}\p{N}_.]{0,80}\((?=\s*(?:\)|[\p{L}_]\w{0,60}\s*=))/uy;

/**
 * Reads JSON with brackets that are superfluous, premature, wrong or missing, with tuples and sets, with
 * `Name(key=value)` and other separators between key and value, and with text without quotes up to the next known key.
 * Every character counts: undefined if anything is left over, duplicated or truncated.
 */
export function readLoosely(
  text: string,
  isKnownKey: (key: string) => boolean,
  closing: ClosingRule,
): LooseReading | undefined {
  const kinds = new Set<LooseKind>();
  const stack: Frame[] = [];
  let root: { readonly value: unknown; readonly frame: Frame } | undefined;
  let at = 0;
  /** The offset of the next match of `END_BRACKET`, cached until it is passed. */
  let endBracket = -1;
  for (;;) {
    consume(SPACE);
    if (at >= text.length) break;
    const isRead = stack.length === 0 && root !== undefined ? readRemainder(root.frame) : readNext(stack.at(-1));
    if (!isRead || stack.length > MAX_DEPTH) return undefined;
  }
  const [outermost] = stack;
  if (outermost !== undefined && !(stack.length === 1 && outermost.isReopened && close())) return undefined;
  return root === undefined ? undefined : { value: root.value, kinds };

  function readNext(top: Frame | undefined): boolean {
    const character = text.charAt(at);
    if ('{[('.includes(character)) {
      const members = character === '{' ? {} : undefined;
      stack.push({ open: character, members, items: [], key: undefined, commas: 0, isReopened: false });
      at += 1;
      return true;
    }
    if (consume(NAMED_CALL) !== undefined) {
      kinds.add('tool_call');
      stack.push({ open: '(', members: {}, items: [], key: undefined, commas: 0, isReopened: false });
      return true;
    }
    if (top === undefined) return false;
    if (character in PAIRS) {
      at += 1;
      return closeWith(character, top);
    }
    if (character === ',') {
      at += 1;
      top.commas += 1;
      return top.key === undefined;
    }
    return readKey(top) ?? readScalar(top);
  }

  /** Reads the text after the end of the value: extra brackets, or more members or items after a premature bracket. */
  function readRemainder(frame: Frame): boolean {
    kinds.add('loose_brackets');
    if (text.charAt(at) in PAIRS) {
      at += 1;
      return true;
    }
    if (text.charAt(at) !== ',') return false;
    at += 1;
    frame.commas += 1;
    consume(SPACE);
    if (at >= text.length || frame.open === '(') return false;
    stack.push(frame);
    frame.isReopened = true;
    root = undefined;
    return true;
  }

  /** Reads a key; returns undefined if no key starts here. */
  function readKey(top: Frame): boolean | undefined {
    const start = at;
    const match = consume(KEY);
    if (match === undefined) return undefined;
    const [whole, double, single, bare] = match;
    if (bare !== undefined && !isKnownKey(bare) && (top.members === undefined || top.key !== undefined)) {
      at = start;
      return undefined;
    }
    // PHP's `["a" => 1]`, or an object in the wrong brackets.
    const hasEquals = /[=>]$/.test(whole);
    if (hasEquals) kinds.add('loose_members');
    if (top.open === '[' && top.items.length === 0 && bare === undefined && (hasEquals || stack.length === 1)) {
      kinds.add('loose_brackets');
      top.members ??= {};
    }
    // A key inside a list belongs to the object around it: the list was left open.
    while (stack.at(-1)?.members === undefined) {
      if (stack.length < 2 || !close()) return false;
      kinds.add('loose_brackets');
    }
    const owner = stack.at(-1);
    const key = bare ?? unescape(double ?? single ?? '');
    if (owner?.members === undefined || owner.key !== undefined || Object.hasOwn(owner.members, key)) return false;
    owner.key = key;
    return true;
  }

  function readScalar(top: Frame): boolean {
    const scalar = scanScalar(text, at);
    const prefixed = scalar === undefined ? consume(PREFIXED_STRING) : undefined;
    if (prefixed !== undefined) {
      kinds.add('loose_text');
      return add(top, prefixed[1] ?? prefixed[2] ?? '');
    }
    if (scalar === undefined) return readBareText(top);
    at = scalar.end;
    return add(top, scalar.value);
  }

  function readBareText(top: Frame): boolean {
    const isValue = top.members === undefined ? top.open === '[' : top.key !== undefined && isKnownKey(top.key);
    CALL.lastIndex = at;
    if (!isValue || CALL.test(text) || PREFIX.test(text.slice(at, at + 3))) return false;
    const bare = text.slice(at, findBareEnd(top));
    // A line break in a list separates items that have no comma.
    if (bare.trim() === '' || /[{}[\]"<>]/.test(bare) || (top.members === undefined && bare.trim().includes('\n')))
      return false;
    at += bare.length;
    kinds.add('loose_text');
    return add(top, bare.trim());
  }

  function findBareEnd(top: Frame): number {
    if (endBracket < at) {
      END_BRACKET.lastIndex = at;
      endBracket = END_BRACKET.exec(text)?.index ?? text.length;
    }
    const rest = text.slice(at, endBracket);
    if (top.members === undefined) return at + rest.search(/,|$/);
    // Before an unknown key the end of the text is unclear: nothing is read.
    NEXT_KEY.lastIndex = 0;
    const next = NEXT_KEY.exec(rest);
    if (next === null) return endBracket;
    return isKnownKey(next[1] ?? '') ? at + next.index : at;
  }

  function closeWith(character: string, top: Frame): boolean {
    const open = PAIRS[character];
    if (top.open === open) return close();
    kinds.add('loose_brackets');
    if (closing === 'innermost') return close();
    // No bracket of its kind is open: it is superfluous.
    if (!stack.some((frame) => frame.open === open)) return true;
    while (stack.at(-1)?.open !== open) if (!close()) return false;
    return close();
  }

  /** Ends the innermost object or list. */
  function close(): boolean {
    const frame = stack.pop();
    if (frame === undefined || frame.key !== undefined) return false;
    const isScalar = frame.open === '(' && frame.items.length === 1 && frame.commas === 0;
    if (frame.open !== '[' && frame.members === undefined) kinds.add('loose_lists');
    const value = frame.members ?? (isScalar ? frame.items[0] : frame.items);
    const parent = stack.at(-1);
    if (parent !== undefined) return add(parent, value);
    // A remark in parentheses is not an answer.
    if (isScalar) return false;
    root = { value, frame };
    return true;
  }

  function add(frame: Frame, value: unknown): boolean {
    if (frame.members !== undefined && frame.key === undefined) {
      if (Object.keys(frame.members).length > 0) return false;
      frame.members = undefined;
    }
    if (frame.members === undefined) {
      frame.items.push(value);
    } else {
      setOwnValue(frame.members, frame.key ?? '', value);
      frame.key = undefined;
    }
    return true;
  }

  function consume(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = at;
    const match = expression.exec(text);
    if (match === null) return undefined;
    at += match[0].length;
    return match;
  }
}

/**
 * Scans the quoted string, number or literal at an offset; undefined if none is found, or if text follows it without a
 * comma or closing bracket.
 */
export function scanScalar(text: string, at: number): { readonly value: unknown; readonly end: number } | undefined {
  STRING.lastIndex = LITERAL.lastIndex = at;
  const string = STRING.exec(text);
  if (string !== null) return { value: unescape(string[1] ?? string[2] ?? ''), end: STRING.lastIndex };
  const literal = LITERAL.exec(text)?.[0];
  if (literal === undefined) return undefined;
  // JSON has no numbers with leading zeros: they are text that includes the zeros.
  const value: unknown = /^-?0\d/.test(literal)
    ? literal
    : LITERALS.has(literal)
      ? LITERALS.get(literal)
      : JSON.parse(literal);
  return { value, end: LITERAL.lastIndex };
}

/** Decodes the content of a string in either kind of quotes. */
export function unescape(content: string): string {
  const escaped = content
    .replaceAll(/\\(.)|"/gsu, (escape, letter: string | undefined) =>
      letter === "'" ? "'" : letter === undefined ? String.raw`\"` : escape,
    )
    .replaceAll(/\p{Cc}/gu, (control) => JSON.stringify(control).slice(1, -1));
  try {
    return String(JSON.parse(`"${escaped}"`));
  } catch {
    return content;
  }
}
