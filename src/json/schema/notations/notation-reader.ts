import { isJsonObject, setOwnValue } from '../json-schema.js';
import { isQualifier } from '../text/choices.js';
import { splitWords } from '../text/spelling.js';

/** A deviation from JSON that the readers of `sluice/json` do not repair. */
export type NotationKind = 'loose_brackets' | 'loose_lists' | 'loose_text' | 'loose_members' | 'tool_call';

/** A value read loosely, and its deviations from JSON. */
export interface ReadNotation {
  readonly value: unknown;
  readonly kinds: ReadonlySet<NotationKind>;
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
  /** The name of the constructor whose argument it is. */
  readonly callee?: string | undefined;
  /** It continued after its closing bracket, so it need not be closed again. */
  isReopened: boolean;
}

const MAX_DEPTH = 64;
const PAIRS: Readonly<Record<string, string>> = { '}': '{', ']': '[', ')': '(' };

/** White space, and tags of HTML that only format. */
const FILLER = /(?:\s|<\/?(?:b|br|code|em|i|mark|span|strong|u)\b[^<>]{0,200}>)*/y;
/** A footnote, citation or remark after a value, without a space before its bracket. */
const NOTE = String.raw`(?:\[\^?\d{1,3}\]|【[^】\n]{1,60}】|<sup>[^<>]{1,20}</sup>| ?\(\p{L}[^()"'\n]{0,60}\))`;
/** The end of a value: a delimiter, a note, a tag, or the next key without a comma. */
const END = String.raw`(?=\s*(?:[,\}\])]|$|</?\w)|${NOTE}\s*[,\}\])]|\s+[\p{L}_]\w{0,60}\s*[:=])`;
const NOTE_AFTER = new RegExp(String.raw`(?:${NOTE}|(?<=["'])[⁰¹²³⁴-⁹]{1,3})(?=\s*[,\}\])])`, 'uy');
const KEY =
  /(?:[bu]?"((?:[^"\\\n]|\\.)*)"|[bu]?'((?:[^'\\\n]|\\.)*)'|([\p{L}_$][\p{L}\p{N}_$ .-]{0,60}?)|:(\w{1,60})(?=\s*=>))(?:\s|<\/\w{1,9}>)*(?::(?!\w+\s*=>)|=>?(?!=))/uy;
const STRING = new RegExp(
  String.raw`(?:"([^"\\]*(?:\\[^][^"\\]*)*)"|'([^'\\]*(?:\\[^][^'\\]*)*)')(?=[⁰¹²³⁴-⁹]{1,3}\s*[,\}\])]|${END.slice(3)}`,
  'uy',
);
const LITERAL = new RegExp(
  String.raw`(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|True|False|None|nil)${END}`,
  'uy',
);
const LITERALS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['True', true],
  ['False', false],
  ['None', null],
  ['nil', null],
]);
/** The end of text without quotes: a bracket that ends its object, or the next key. */
const END_BRACKET = /[}\]]\s*(?=[,}\])]|$)/g;
const NEXT_KEY = /(?:,\s*|\n[^\S\n]*)["'“]?([\p{L}_][\p{L}\p{N}_ .-]{0,60}?)["'”]?\s*:/gu;
const CALL = /[\p{L}_][\p{L}\p{N}_.]*\(/uy;
/** The prefix of a Python string: `f` is accepted without placeholders, `r` without escapes. */
const PREFIX = /[bfru]{1,2}(?=["'])/iy;
/** A symbol of Ruby, a number in groups, the representation of a Python enum's member. */
const SYMBOL = new RegExp(String.raw`:([\p{L}_]\w{0,60})${END}`, 'uy');
const GROUPED = /-?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?=\s*(?:\}|,\s*["'\p{L}]))/uy;
const ENUM_MEMBER = /<[\p{L}_][\w.]{0,80}: (?:"([^"\\\n]{0,200})"|'([^'\\\n]{0,200})'|(\d{1,15}))>/uy;
const WORD_LIST = /%w[[(]([\w \n-]{0,2000})[\])]/y;
/** Words between two members. */
const WORDS = /(?:\([^()"\n]{1,60}\)|(\p{L}[\p{L}\p{N} '-]{0,80}):?)\s+(?=["']([^"'\n]{1,60})["']\s*:)/uy;
/** A call with named arguments only. */
const NAMED_CALL = /[\p{L}_][\p{L}\p{N}_.]{0,80}\((?=\s*(?:\)|[\p{L}_]\w{0,60}\s*=))/uy;
/** Calls that construct a list, an object or a scalar from one argument, with or without the module's name. */
const CONSTRUCTOR =
  /(?:new )?(?:[a-z]\w{0,30}\.){0,2}(set|frozenset|list|tuple|deque|array|dict|OrderedDict|defaultdict|Decimal|UUID|ObjectId|ISODate|Date|Number(?:Int|Long|Decimal)|(?:Posix|Windows)?Path|Timestamp|str|int|float)\((?!\s*\w+\s*=)(?:<class '\w+'>,)?/y;
const LIST_NAME = /^(?:set|frozenset|list|tuple|deque|array)$/;
const OBJECT_NAME = /^(?:dict|OrderedDict|defaultdict)$/;
const DATE_CALL =
  /(?:datetime\.)?date(?:(time)(?=\())?\(\s*(\d{4}),\s*(\d{1,2}),\s*(\d{1,2})(?:,\s*(\d{1,2}))?(?:,\s*(\d{1,2}))?(?:,\s*(\d{1,2}))?(,\s*tzinfo=(?:datetime\.)?(?:timezone\.utc|UTC))?\s*\)/y;

/**
 * Reads JSON with brackets that are superfluous, premature, wrong or missing, with tuples and sets, with
 * `Name(key=value)` and other separators between key and value, and with text without quotes up to the next known key.
 * Every character counts: undefined if anything is left over, duplicated or truncated.
 */
export function readNotation(
  text: string,
  isKnownKey: (key: string) => boolean,
  closing: ClosingRule,
): ReadNotation | undefined {
  const kinds = new Set<NotationKind>();
  const stack: Frame[] = [];
  let root: { readonly value: unknown; readonly frame: Frame } | undefined;
  let at = 0;
  /** The offset of the next match of `END_BRACKET`, cached until it is passed. */
  let endBracket = -1;
  for (;;) {
    skipFiller();
    if (at >= text.length) break;
    const isRead = stack.length === 0 && root !== undefined ? readRemainder(root.frame) : readNext(stack.at(-1));
    if (!isRead || stack.length > MAX_DEPTH) return undefined;
  }
  const [outermost] = stack;
  if (outermost !== undefined && !(stack.length === 1 && outermost.isReopened && close())) return undefined;
  return root === undefined ? undefined : { value: root.value, kinds };

  function readNext(top: Frame | undefined): boolean {
    if (top !== undefined && skipWords(top)) return true;
    const character = text.charAt(at);
    if ('{[('.includes(character)) {
      at += 1;
      return open(character, character === '{');
    }
    const constructed = consume(CONSTRUCTOR);
    if (constructed !== undefined) {
      kinds.add('loose_text');
      return open('(', false, constructed[1]);
    }
    if (consume(NAMED_CALL) !== undefined) {
      kinds.add('tool_call');
      return open('(', true);
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

  function open(bracket: string, isObject: boolean, callee?: string): true {
    const members = isObject ? {} : undefined;
    stack.push({ open: bracket, members, items: [], key: undefined, commas: 0, isReopened: false, callee });
    return true;
  }

  function skipFiller(): void {
    if (consume(FILLER)?.[0].includes('<') === true) kinds.add('loose_text');
  }

  /** Skips words between two members, if the next key is known and the words are neither a key nor a negation. */
  function skipWords({ members, key }: Frame): boolean {
    if (members === undefined || key !== undefined || Object.keys(members).length === 0) return false;
    const start = at;
    const [whole = '', words = '', next = ''] = consume(WORDS) ?? [];
    if (whole !== '' && isKnownKey(next) && !isKnownKey(words) && isNeutral(whole)) {
      kinds.add('loose_text');
      return true;
    }
    at = start;
    return false;
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
    skipFiller();
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
    const [whole, double, single, bare = match[4]] = match;
    if (bare !== undefined && !isKnownKey(bare) && (top.members === undefined || top.key !== undefined)) {
      at = start;
      return undefined;
    }
    // PHP's `["a" => 1]`, or an object in the wrong brackets.
    const hasEquals = /[=>]$/.test(whole);
    if (hasEquals) kinds.add('loose_members');
    const isList = top.open === '[' || top.callee === 'array';
    if (isList && top.items.length === 0 && bare === undefined && (hasEquals || stack.length === 1)) {
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
    if (owner.commas < Object.keys(owner.members).length) kinds.add('loose_members');
    owner.key = key;
    return true;
  }

  function readScalar(top: Frame): boolean {
    const isMember = top.members !== undefined && top.key !== undefined;
    const foreign = (isMember ? consume(GROUPED)?.[0] : undefined) ?? readForeign();
    if (foreign !== undefined) kinds.add('loose_text');
    const scalar = foreign === undefined ? scanScalar(text, at) : undefined;
    if (scalar === undefined && foreign === undefined) return readBareText(top);
    at = scalar?.end ?? at;
    if (!add(top, scalar === undefined ? foreign : scalar.value)) return false;
    const note = consume(NOTE_AFTER)?.[0];
    if (note !== undefined) kinds.add('loose_text');
    return note === undefined || (isNeutral(note) && !(note.endsWith(')') && typeof scalar?.value === 'number'));
  }

  /** Reads a scalar or a list of words in the notation of Ruby or Python. */
  function readForeign(): unknown {
    const words = consume(WORD_LIST);
    if (words !== undefined) return (words[1] ?? '').split(/\s+/).filter((word) => word !== '');
    const date = consume(DATE_CALL);
    if (date !== undefined) return formatDate(date);
    const member = consume(ENUM_MEMBER);
    if (member !== undefined) return member[1] ?? member[2] ?? Number(member[3]);
    const symbol = consume(SYMBOL)?.[1];
    const start = at;
    const [prefix] = symbol === undefined ? (consume(PREFIX) ?? []) : [];
    if (prefix === undefined) return symbol;
    const scalar = scanScalar(text, at);
    const raw = text.slice(at, scalar?.end);
    // Only escapes that JSON has too; none in bytes, where they stand for bytes.
    const isPlain = !(/f/i.test(prefix) ? /[{}\\\n]/ : /b/i.test(prefix) ? /[\\\n]/ : /\\(?!["'\\nrtu])|\n/).test(raw);
    at = scalar === undefined || !(isPlain || /^r$/i.test(prefix)) ? start : scalar.end;
    if (at === start) return undefined;
    return /r/i.test(prefix) ? raw.slice(1, -1) : scalar?.value;
  }

  function readBareText(top: Frame): boolean {
    const isValue = top.members === undefined ? top.open === '[' : top.key !== undefined && isKnownKey(top.key);
    CALL.lastIndex = PREFIX.lastIndex = at;
    if (!isValue || CALL.test(text) || PREFIX.test(text)) return false;
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
    const opening = PAIRS[character];
    if (top.open === opening) return close();
    kinds.add('loose_brackets');
    if (closing === 'innermost') return close();
    // No bracket of its kind is open: it is superfluous.
    if (!stack.some((frame) => frame.open === opening)) return true;
    while (stack.at(-1)?.open !== opening) if (!close()) return false;
    return close();
  }

  /** Ends the innermost object or list. */
  function close(): boolean {
    const frame = stack.pop();
    if (frame === undefined || frame.key !== undefined) return false;
    const isScalar = frame.open === '(' && frame.items.length === 1 && frame.commas === 0;
    if (frame.open !== '[' && frame.members === undefined) kinds.add('loose_lists');
    const argument = isScalar ? frame.items[0] : frame.items;
    const value = frame.members ?? (frame.callee === undefined ? argument : construct(frame.callee, frame.items));
    if (value === undefined) return false;
    const parent = stack.at(-1);
    if (parent !== undefined) return add(parent, value);
    // A remark in parentheses is not an answer.
    if (isScalar && frame.callee === undefined) return false;
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

/** Whether a remark does not negate, limit or doubt what it is about. */
function isNeutral(remark: string): boolean {
  return (
    !/[?~≈]|\b(?:about|approx|circa|estimat)/i.test(remark) && !splitWords(remark).some(({ text }) => isQualifier(text))
  );
}

/** The value that a constructor returns; undefined if it takes other arguments. */
function construct(name: string, items: readonly unknown[]): unknown {
  const [item, other] = items;
  if (other !== undefined) return undefined;
  if (LIST_NAME.test(name)) return items.length === 0 ? [] : Array.isArray(item) ? item : undefined;
  if (!OBJECT_NAME.test(name)) return typeof item === 'object' ? undefined : item;
  if (items.length === 0) return {};
  if (!Array.isArray(item)) return isJsonObject(item) ? item : undefined;
  const pairs = item.filter((pair): pair is [string, unknown] => Array.isArray(pair) && pair.length === 2);
  const keys = new Set(pairs.map(([key]) => key).filter((key) => typeof key === 'string'));
  return keys.size === item.length ? Object.fromEntries(pairs) : undefined;
}

/** Formats the arguments of `date` and `datetime` as ISO 8601; without a zone if there is none. */
function formatDate([, hasTime, year = '', month, day, hour, minute, second, zone]: readonly (
  | string
  | undefined
)[]): string {
  const [months, days, hours, minutes, seconds] = [month, day, hour, minute, second].map((part = '0') =>
    part.padStart(2, '0'),
  );
  const date = `${year}-${months}-${days}`;
  return hasTime === undefined ? date : `${date}T${hours}:${minutes}:${seconds}${zone === undefined ? '' : 'Z'}`;
}

/**
 * Scans the quoted string, number or literal at an offset; undefined if none is found, or if text follows it without a
 * comma or closing bracket.
 */
function scanScalar(text: string, at: number): { readonly value: unknown; readonly end: number } | undefined {
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
