import { createSchemaError } from '../json-schema.js';

/** Repetitions are expanded, so this bounds nested ones such as `(.{1,500}){1,500}`. */
const MAX_INSTRUCTIONS = 5000;

/** One step of a compiled pattern; `split` continues at two instructions. */
export type PatternInstruction =
  | { readonly op: 'character'; readonly matches: (code: number) => boolean }
  | { readonly op: 'split'; first: number; second: number }
  | { readonly op: 'assert'; readonly kind: 'start' | 'end' | 'boundary' | 'inside' }
  | { readonly op: 'accept' };

/**
 * Compiles a regular expression to instructions for a set of states. Look-around, back-references, inline flags and
 * patterns that grow too large are rejected.
 */
export function compilePatternProgram(source: string, flags: string, location: string): readonly PatternInstruction[] {
  const program: PatternInstruction[] = [];
  emit(parsePattern(source, flags, location));
  push({ op: 'accept' });
  return program;

  function push(instruction: PatternInstruction): number {
    if (program.length >= MAX_INSTRUCTIONS) {
      throw createSchemaError(
        location,
        'this pattern is too large for an untrusted schema; use smaller repetition counts',
      );
    }
    return program.push(instruction) - 1;
  }

  function emit(part: PatternPart): void {
    switch (part.kind) {
      case 'character':
        push({ op: 'character', matches: part.matches });
        return;
      case 'assert':
        push({ op: 'assert', kind: part.assertion });
        return;
      case 'sequence':
        for (const inner of part.parts) emit(inner);
        return;
      case 'choice':
        emitChoice(part.parts);
        return;
      case 'repeat':
        emitRepeat(part.part, part.min, part.max);
        return;
    }
  }

  function emitChoice(parts: readonly PatternPart[]): void {
    const jumps: { op: 'split'; first: number; second: number }[] = [];
    for (const part of parts.slice(0, -1)) {
      const split = { op: 'split' as const, first: program.length + 1, second: 0 };
      push(split);
      emit(part);
      const jump = { op: 'split' as const, first: 0, second: 0 };
      push(jump);
      jumps.push(jump);
      split.second = program.length;
    }
    const last = parts.at(-1);
    if (last !== undefined) emit(last);
    for (const jump of jumps) jump.first = jump.second = program.length;
  }

  function emitRepeat(part: PatternPart, min: number, max: number): void {
    for (let count = 0; count < min; count += 1) {
      const before = program.length;
      emit(part);
      // An empty group adds nothing however often it is repeated.
      if (program.length === before) return;
    }
    if (max === Infinity) {
      const split = { op: 'split' as const, first: program.length + 1, second: 0 };
      const start = push(split);
      emit(part);
      push({ op: 'split', first: start, second: start });
      split.second = program.length;
      return;
    }
    const splits: { op: 'split'; first: number; second: number }[] = [];
    for (let count = min; count < max; count += 1) {
      const split = { op: 'split' as const, first: program.length + 1, second: 0 };
      push(split);
      splits.push(split);
      emit(part);
    }
    for (const split of splits) split.second = program.length;
  }
}

/** A part of a parsed regular expression. */
export type PatternPart =
  | { readonly kind: 'character'; readonly matches: (code: number) => boolean }
  | { readonly kind: 'assert'; readonly assertion: 'start' | 'end' | 'boundary' | 'inside' }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternPart[] }
  | { readonly kind: 'choice'; readonly parts: readonly PatternPart[] }
  | { readonly kind: 'repeat'; readonly part: PatternPart; readonly min: number; readonly max: number };

/** Maximum nesting depth of groups. */
const MAX_GROUPS = 100;

const UNICODE_ESCAPE =
  /\\(?:u\{[\da-f]+\}|ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|p\{[^}]*\}|[^])/iuy;
const PLAIN_ESCAPE = /\\(?:u[\da-f]{4}|x[\da-f]{2}|c[a-z]|[^])/iy;
const CLASS = /\[(?:\\[^]|[^\]\\])*\]/uy;
const QUANTIFIER = /(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y;
const GROUP = /\((?:\?:|\?<[^=!>][^>]*>)?/y;

/**
 * Reads the structure of a regular expression that the engine has already accepted under these flags. The engine
 * determines which characters a class matches (a class cannot backtrack). Look-around and back-references are rejected
 * because they cannot be matched in linear time, inline flags because the engine tests each character separately.
 */
function parsePattern(source: string, flags: string, location: string): PatternPart {
  let at = 0;
  let depth = 0;
  return parseChoice();

  function parseChoice(): PatternPart {
    depth += 1;
    if (depth > MAX_GROUPS) throw createSchemaError(location, 'this pattern nests too many groups');
    const parts: PatternPart[] = [parseSequence()];
    while (source[at] === '|') {
      at += 1;
      parts.push(parseSequence());
    }
    depth -= 1;
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : { kind: 'choice', parts };
  }

  function parseSequence(): PatternPart {
    const parts: PatternPart[] = [];
    while (at < source.length && source[at] !== '|' && source[at] !== ')') parts.push(parseTerm());
    return { kind: 'sequence', parts };
  }

  function parseTerm(): PatternPart {
    const part = parseAtom();
    const quantifier = consume(QUANTIFIER);
    if (quantifier === undefined) return part;
    const [text, min = '', comma, max = ''] = quantifier;
    switch (text.charAt(0)) {
      case '*':
        return { kind: 'repeat', part, min: 0, max: Infinity };
      case '+':
        return { kind: 'repeat', part, min: 1, max: Infinity };
      case '?':
        return { kind: 'repeat', part, min: 0, max: 1 };
      default:
        return {
          kind: 'repeat',
          part,
          min: Number(min),
          max: comma === '' ? Number(min) : max === '' ? Infinity : Number(max),
        };
    }
  }

  function parseAtom(): PatternPart {
    switch (source.charAt(at)) {
      case '^':
        at += 1;
        return { kind: 'assert', assertion: 'start' };
      case '$':
        at += 1;
        return { kind: 'assert', assertion: 'end' };
      case '(':
        return parseGroup();
      case '[':
        return createCharacterPart(consume(CLASS)?.[0] ?? reject());
      case '\\':
        return parseEscape(consume(flags.includes('u') ? UNICODE_ESCAPE : PLAIN_ESCAPE)?.[0] ?? reject());
      default: {
        const code = flags.includes('u') ? (source.codePointAt(at) ?? 0) : source.charCodeAt(at);
        at += code > 0xffff ? 2 : 1;
        return code === DOT ? createCharacterPart('.') : { kind: 'character', matches: (other) => other === code };
      }
    }
  }

  function parseGroup(): PatternPart {
    if (/^\(\?(?!:|<[^=!])/.test(source.slice(at, at + 4))) return reject();
    if (consume(GROUP) === undefined) return reject();
    const part = parseChoice();
    if (source[at] !== ')') return reject();
    at += 1;
    return part;
  }

  function parseEscape(escape: string): PatternPart {
    if (escape === String.raw`\b`) return { kind: 'assert', assertion: 'boundary' };
    if (escape === String.raw`\B`) return { kind: 'assert', assertion: 'inside' };
    if (/^\\[1-9k]/.test(escape)) return reject();
    return createCharacterPart(escape);
  }

  function createCharacterPart(expression: string): PatternPart {
    return { kind: 'character', matches: toCharacterTest(new RegExp(`^${expression}$`, flags)) };
  }

  function consume(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = at;
    const match = expression.exec(source);
    if (match === null) return undefined;
    at += match[0].length;
    return match;
  }

  function reject(): never {
    throw createSchemaError(
      location,
      'look-around, back-references and inline flags are not supported in patterns of untrusted schemas; remove them',
    );
  }
}

const DOT = 46;

/** Creates a test for one character. Results for characters below 128, the vast majority, are cached. */
function toCharacterTest(expression: RegExp): (code: number) => boolean {
  /** 1: matches, -1: does not match, 0: not tested yet. */
  const results = new Int8Array(128);
  return (code) => {
    if (code >= 128) return expression.test(String.fromCodePoint(code));
    const result = results[code];
    if (result !== undefined && result !== 0) return result === 1;
    const matches = expression.test(String.fromCharCode(code));
    results[code] = matches ? 1 : -1;
    return matches;
  };
}
