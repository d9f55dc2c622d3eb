import type { Span, SchemaProblem } from './inspection.js';
import { isSluiceError } from '../../../src/base/index.js';
import { isObject } from '../../app/storage.js';
import { parse, type Path, type AlignableSchema } from '../../../src/json/index.js';
import { fromJsonSchema } from '../../../src/json/schema/index.js';

/** Everything between tokens. Comments are limited in length, because they can be unclosed. */
const FILLER = /(?:[\s,]+|\/\/[^\n]*|\/\*[^]{0,200}?\*\/)*/y;
const STRING = /"[^"\\]*(?:\\[^][^"\\]*)*"|'[^'\\]*(?:\\[^][^'\\]*)*'/y;
const BARE = /[^\s,:{}[\]"']+/y;

/**
 * Finds the span of the value at a path; for an object member, its value without the key. Null if the value cannot be
 * located because of syntax errors such as missing colons. Other syntax errors can lead to a wrong span, so callers
 * must check its content.
 */
export function locatePath(text: string, from: number, path: Path): Span | null {
  const walker = new TokenWalker(text, from);
  for (const step of path) {
    if (!walker.enter(step)) return null;
  }
  return walker.readValue();
}

class TokenWalker {
  readonly #text: string;
  #at: number;

  constructor(text: string, from: number) {
    this.#text = text;
    this.#at = from;
  }

  enter(step: string | number): boolean {
    this.#skip(FILLER);
    const open = this.#text[this.#at];
    if (open !== '{' && open !== '[') return false;
    this.#at += 1;
    // If a key is duplicated, the last one counts.
    let valueStart: number | null = null;
    for (let index = 0; ; index += 1) {
      this.#skip(FILLER);
      const next = this.#text[this.#at];
      if (next === undefined || next === '}' || next === ']') break;
      if (open === '{') {
        const key = this.#readKey();
        if (key === null) return false;
        if (key === String(step)) valueStart = this.#at;
      } else if (index === Number(step)) {
        return true;
      }
      if (this.readValue() === null) break;
    }
    if (valueStart === null) return false;
    this.#at = valueStart;
    return true;
  }

  /** Skips the value that starts here and returns its span; an unclosed container extends to the end of the input. */
  readValue(): Span | null {
    this.#skip(FILLER);
    const start = this.#at;
    let depth = 0;
    do {
      const character = this.#text[this.#at];
      if (character === undefined) return start === this.#at ? null : { start, end: this.#at };
      if (character === '{' || character === '[') depth += 1;
      else if (character === '}' || character === ']') depth -= 1;
      if (depth < 0) return null;
      if (character === '"' || character === "'") {
        if (!this.#skip(STRING)) return null;
      } else if (!/[{}[\]:]/.test(character) && this.#skip(BARE)) {
        // The word was skipped.
      } else {
        this.#at += 1;
      }
      if (depth > 0) this.#skip(FILLER);
    } while (depth > 0);
    return { start, end: this.#at };
  }

  #readKey(): string | null {
    const start = this.#at;
    if (!this.#skip(STRING) && !this.#skip(BARE)) return null;
    const source = this.#text.slice(start, this.#at);
    this.#skip(FILLER);
    if (this.#text[this.#at] !== ':') return null;
    this.#at += 1;
    return unquoteKey(source);
  }

  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const length = pattern.exec(this.#text)?.[0].length ?? 0;
    this.#at += length;
    return length > 0;
  }
}

function unquoteKey(source: string): string {
  if (!source.startsWith('"')) return source.replace(/^'([^]*)'$/, '$1');
  try {
    return String(JSON.parse(source));
  } catch {
    return source.slice(1, -1);
  }
}

/** Finds the line and the column of an offset, both counted from 1. */
export function findLineAndColumn(text: string, offset: number): readonly [line: number, column: number] {
  const before = text.slice(0, offset);
  return [before.split('\n').length, offset - before.lastIndexOf('\n')];
}

/** Parses a JSON Schema. Unlike an answer, it is not repaired. */
export function readSchemaText(
  text: string,
): { ok: true; schema: AlignableSchema | undefined } | { ok: false; problem: SchemaProblem } {
  if (text.trim() === '') return { ok: true, schema: undefined };
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch {
    return { ok: false, problem: findSyntaxProblem(text) };
  }
  if (typeof schema !== 'boolean' && !isObject(schema))
    return { ok: false, problem: { message: 'SCHEMA_TYPE', offset: null } };
  try {
    return { ok: true, schema: fromJsonSchema(schema, { trusted: false }) };
  } catch (error) {
    if (isSluiceError(error)) return { ok: false, problem: locateProblem(text, error.message) };
    throw error;
  }
}

/** Locates the error with our parser, because `JSON.parse` messages differ between browsers. */
function findSyntaxProblem(text: string): SchemaProblem {
  const result = parse(text, undefined, { profile: 'generic' });
  if (result.ok) {
    const { start, end } = result.candidate;
    const isBefore = text.slice(0, start).trim() !== '';
    return isBefore ? { message: 'TEXT_BEFORE', offset: text.search(/\S/) } : { message: 'TEXT_AFTER', offset: end };
  }
  const [first] = result.status === 'failed' ? result.attempts : [];
  const full = first?.message ?? 'INVALID_JSON';
  // The advice after the offset is for answers of models.
  const [message = full, offset] = /^.*\(offset (\d+)\)\.?/.exec(full) ?? [];
  return { message, offset: offset === undefined ? null : Number(offset) };
}

function locateProblem(text: string, message: string): SchemaProblem {
  const pointer = /at #(\/\S*):/.exec(message)?.[1];
  if (pointer === undefined) return { message, offset: null };
  const steps = pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return { message, offset: locatePath(text, 0, steps)?.start ?? null };
}
