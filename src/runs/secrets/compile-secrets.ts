import type { Masker } from './masker.js';
import { createPatternMasker, compileBytePattern } from './mask-patterns.js';
import { createWordMasker, createWordFinder } from './mask-words.js';
import type { StreamName } from '../../events/index.js';
import { sensitiveEnvironment } from './environment.js';

/** What must never be stored. */
export interface SecretsOptions {
  /** Secrets as they are. Those under six bytes and plain words of settings (`true`, short numbers) are left alone. */
  readonly values: readonly string[];
  /** Regular expressions of secrets that are not known beforehand; see {@link compileSecrets}. */
  readonly patterns?: readonly string[];
}

/** Compiled secrets, used for all streams of a run. */
export interface Secrets {
  /** A masker for one stream. */
  createMasker(): Masker;
  /** Masks bytes that are whole: a file. */
  mask(bytes: Uint8Array): Uint8Array;
  /** Masks a text that is whole: a message, a prompt. */
  maskText(text: string): string;
}

/**
 * Prepares to hide secrets behind stars of the same length in bytes, so that byte ranges keep their meaning. A value is
 * also found as text inside JSON, once or twice encoded, line by line if it has several lines, and wherever a chunk is
 * cut. A pattern matches bytes in linear time: no look-around, no back-references, `^` and `$` are the ends of a line.
 *
 * @example
 * const secrets = compileSecrets({ values: ['sk-12345678'], patterns: ['ghp_\\w{36}'] });
 * secrets.maskText('key sk-12345678.') // 'key ***********.'
 */
export function compileSecrets({ values, patterns = [] }: SecretsOptions): Secrets {
  const words = [...new Set(values)].flatMap(listSecretForms);
  const finder = words.length === 0 ? undefined : createWordFinder(words);
  const programs = patterns.map(compileBytePattern);

  function createMasker(): Masker {
    const maskers = [...(finder === undefined ? [] : [createWordMasker(finder)]), ...programs.map(createPatternMasker)];
    return {
      push: (bytes) => maskers.reduce((rest, masker) => masker.push(rest), bytes),
      end: () => maskers.reduce((rest, masker) => Buffer.concat([masker.push(rest), masker.end()]), new Uint8Array()),
    };
  }

  function mask(bytes: Uint8Array): Uint8Array {
    if (finder === undefined && programs.length === 0) return bytes;
    const masker = createMasker();
    return Buffer.concat([masker.push(bytes), masker.end()]);
  }

  return {
    createMasker,
    mask,
    maskText(text) {
      const bytes = Buffer.from(text);
      const masked = Buffer.from(mask(bytes));
      return masked.equals(bytes) ? text : masked.toString();
    },
  };
}

/** Masks the secrets of an attempt in everything that is stored, at equal length. */
export interface AttemptSecrets {
  /** The next bytes of a stream; what may still become a secret is held back. */
  mask(stream: StreamName, bytes: Uint8Array): Uint8Array;
  /** What was held back. */
  endMask(): { readonly stream: StreamName; readonly bytes: Uint8Array }[];
  maskText(text: string): string;
}

/** The secrets are the values of sensitive variables the agent gets, and what the configured patterns match. */
export function createAttemptSecrets(
  env: Readonly<Record<string, string>>,
  patterns: readonly string[],
): AttemptSecrets {
  const secrets = compileSecrets({ values: sensitiveEnvironment(env), patterns });
  const maskers = new Map<StreamName, Masker>();
  return {
    mask(stream, bytes) {
      const masker = maskers.get(stream) ?? secrets.createMasker();
      maskers.set(stream, masker);
      return masker.push(bytes);
    },
    endMask: () => [...maskers].map(([stream, masker]) => ({ stream, bytes: masker.end() })),
    maskText: (text) => secrets.maskText(text),
  };
}

/** A shorter value would be found by chance, and stars would hide what is no secret. */
const LEAST_BYTES = 6;
/** Longer ones are looked for in pieces: so little has to be held back, and a part of a key is hidden too. */
const PIECE_BYTES = 1024;
/** Lines of a key are looked for one by one, because programs indent them or end them in their own way. */
const LEAST_LINE_BYTES = 16;

/** Values that switches have; a number this short is more likely a port, a limit or a year. */
const NO_SECRET =
  /^(?:true|false|null|undefined|default|enabled|disabled|required|optional|always|bearer|\d{1,11}|(.)\1*)$/i;

/**
 * The byte sequences by which a secret may appear: as it is, and as text inside JSON, once or twice encoded. Empty for a
 * value that is too short or too common to be one.
 *
 * @example
 * listSecretForms('p"ssword') // the bytes of p"ssword, p\"ssword and p\\\"ssword
 */
export function listSecretForms(value: string): Uint8Array[] {
  const whole = value.trim();
  const lines = whole.split(/\r?\n/).filter((line) => isLongLine(line.trim()));
  const texts = whole.includes('\n') ? [whole, ...lines.map((line) => line.trim())] : [whole];
  const forms = new Set(texts.filter(isSecret).flatMap(encode));
  return [...forms].flatMap((form) => cut(Buffer.from(form)));
}

function isSecret(text: string): boolean {
  return Buffer.byteLength(text) >= LEAST_BYTES && !NO_SECRET.test(text);
}

/** The frame of a key (`-----BEGIN …`) is public. */
function isLongLine(line: string): boolean {
  return line.length >= LEAST_LINE_BYTES && !line.startsWith('-----');
}

function encode(text: string): string[] {
  const forms = [text];
  for (const once of ENCODERS) {
    const encoded = once(text);
    forms.push(encoded, ...ENCODERS.map((twice) => twice(encoded)));
  }
  return forms;
}

/** How programs write a text into JSON: some escape all but ASCII, some the slash, some what HTML minds. */
const ENCODERS: readonly ((text: string) => string)[] = [
  escapeJson,
  (text) => escapeJson(text).replaceAll(/[^\0-\x7e]/g, (unit) => escapeUnit(unit)),
  (text) => escapeJson(text).replaceAll(/[^\0-\x7e]/g, (unit) => escapeUnit(unit).toUpperCase().replace('U', 'u')),
  (text) => escapeJson(text).replaceAll('/', String.raw`\/`),
  (text) => escapeJson(text).replaceAll(/[<>&]/g, escapeUnit),
];

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function escapeUnit(unit: string): string {
  return String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Cuts where a character begins, so that no half of one is left when a piece is hidden. */
function cut(bytes: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let from = 0;
  while (bytes.length - from > 2 * PIECE_BYTES) {
    let to = from + PIECE_BYTES;
    while (((bytes[to] ?? 0) & 0xc0) === 0x80) to -= 1;
    pieces.push(bytes.subarray(from, to));
    from = to;
  }
  pieces.push(bytes.subarray(from));
  return pieces;
}
