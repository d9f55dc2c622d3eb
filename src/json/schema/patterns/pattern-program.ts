import { createSchemaError } from '../json-schema.js';

/** Repetitions are expanded, so this bounds nested ones such as `(.{1,500}){1,500}`. */
const MAX_INSTRUCTIONS = 5000;
/** Maximum nesting depth of groups. */
const MAX_GROUPS = 100;

/** One step of a compiled pattern; `split` continues at two instructions. */
export type PatternInstruction =
  | { readonly op: 'character'; readonly matches: (code: number) => boolean }
  | { readonly op: 'split'; first: number; second: number }
  | { readonly op: 'assert'; readonly kind: 'start' | 'end' | 'boundary' | 'inside' }
  | { readonly op: 'accept' };

/** Adds the instructions of a part of the pattern; a repeated part is added several times. */
type Emit = () => void;

const UNICODE_ESCAPE =
  /\\(?:u\{[\da-f]+\}|ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|p\{[^}]*\}|[^])/iuy;
const PLAIN_ESCAPE = /\\(?:u[\da-f]{4}|x[\da-f]{2}|c[a-z]|[^])/iy;
const CLASS = /\[(?:\\[^]|[^\]\\])*\]/uy;
const QUANTIFIER = /(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y;
const GROUP = /\((?:\?:|\?<[^=!>][^>]*>)?/y;
const ASSERTIONS: Readonly<Record<string, 'start' | 'end' | 'boundary' | 'inside'>> = {
  '^': 'start',
  $: 'end',
  '\\b': 'boundary',
  '\\B': 'inside',
};

/**
 * Compiles a regular expression that the engine has already accepted under these flags to instructions for a set of
 * states. The engine determines which characters a class matches (a class cannot backtrack). Rejected are look-around
 * and back-references, which cannot be matched in linear time, inline flags, because the engine tests each character
 * separately, and patterns that grow too large.
 */
export function compilePatternProgram(source: string, flags: string, location: string): readonly PatternInstruction[] {
  const isUnicode = flags.includes('u');
  const program: PatternInstruction[] = [];
  let at = 0;
  let depth = 0;
  parseChoice()();
  push({ op: 'accept' });
  return program;

  function push(instruction: PatternInstruction): void {
    if (program.push(instruction) > MAX_INSTRUCTIONS)
      throw createSchemaError(
        location,
        'this pattern is too large for an untrusted schema; use smaller repetition counts',
      );
  }

  /** Adds a split that continues with the next instruction, or at `second`, which can be set later. */
  function pushSplit(first = program.length + 1): { first: number; second: number } {
    const split = { op: 'split' as const, first, second: first };
    push(split);
    return split;
  }

  function parseChoice(): Emit {
    if (++depth > MAX_GROUPS) throw createSchemaError(location, 'this pattern nests too many groups');
    const alternatives = [parseSequence()];
    while (consume(/\|/y) !== undefined) alternatives.push(parseSequence());
    depth -= 1;
    return () => {
      const jumps: { first: number; second: number }[] = [];
      for (const [index, emit] of alternatives.entries()) {
        const split = index < alternatives.length - 1 ? pushSplit() : undefined;
        emit();
        if (split === undefined) continue;
        jumps.push(pushSplit());
        split.second = program.length;
      }
      for (const jump of jumps) jump.first = jump.second = program.length;
    };
  }

  function parseSequence(): Emit {
    const terms: Emit[] = [];
    while (at < source.length && !'|)'.includes(source.charAt(at))) terms.push(parseTerm());
    return () => {
      for (const emit of terms) emit();
    };
  }

  function parseTerm(): Emit {
    const emit = parseAtom();
    const quantifier = consume(QUANTIFIER);
    if (quantifier === undefined) return emit;
    const [text, least = '', comma, most = ''] = quantifier;
    if (text.startsWith('{'))
      return repeat(emit, Number(least), comma === '' ? Number(least) : Number(most || Infinity));
    return repeat(emit, text.startsWith('+') ? 1 : 0, text.startsWith('?') ? 1 : Infinity);
  }

  function repeat(emit: Emit, min: number, max: number): Emit {
    return () => {
      for (let count = 0; count < min; count += 1) {
        const before = program.length;
        emit();
        // An empty group adds nothing however often it is repeated.
        if (program.length === before) return;
      }
      const start = program.length;
      const splits: { second: number }[] = [];
      for (let count = min; count < (max === Infinity ? min + 1 : max); count += 1) {
        splits.push(pushSplit());
        emit();
      }
      if (max === Infinity) pushSplit(start);
      for (const split of splits) split.second = program.length;
    };
  }

  function parseAtom(): Emit {
    const char = source.charAt(at);
    if (char === '(') return parseGroup();
    const atom =
      char === '['
        ? consume(CLASS)
        : char === '\\'
          ? consume(isUnicode ? UNICODE_ESCAPE : PLAIN_ESCAPE)
          : consume(/[\^$.]/y);
    if (atom === undefined) {
      if (char === '[' || char === '\\') return reject();
      const code = isUnicode ? (source.codePointAt(at) ?? 0) : source.charCodeAt(at);
      at += code > 0xffff ? 2 : 1;
      return () => push({ op: 'character', matches: (other) => other === code });
    }
    const [text] = atom;
    const kind = ASSERTIONS[text];
    if (kind !== undefined) return () => push({ op: 'assert', kind });
    if (/^\\[1-9k]/.test(text)) return reject();
    const matches = toCharacterTest(new RegExp(`^${text}$`, flags));
    return () => push({ op: 'character', matches });
  }

  function parseGroup(): Emit {
    if (/^\(\?(?!:|<[^=!])/.test(source.slice(at, at + 4)) || consume(GROUP) === undefined) return reject();
    const emit = parseChoice();
    return consume(/\)/y) === undefined ? reject() : emit;
  }

  function consume(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = at;
    const match = expression.exec(source) ?? undefined;
    at += match?.[0].length ?? 0;
    return match;
  }

  function reject(): never {
    throw createSchemaError(
      location,
      'look-around, back-references and inline flags are not supported in patterns of untrusted schemas; remove them',
    );
  }
}

/** Creates a test for one character. Results for characters below 128, the vast majority, are cached. */
function toCharacterTest(expression: RegExp): (code: number) => boolean {
  const results: boolean[] = [];
  return (code) => {
    if (code >= 128) return expression.test(String.fromCodePoint(code));
    return (results[code] ??= expression.test(String.fromCharCode(code)));
  };
}
