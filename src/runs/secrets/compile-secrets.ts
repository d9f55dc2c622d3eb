import type { Masker } from './masker.js';
import { createPatternMasker, compileBytePattern } from './mask-patterns.js';
import { createWrappedMasker, MIN_WRAPPED_BYTES } from './mask-wrapped-words.js';
import { createWordMasker, createWordFinder } from './mask-words.js';
import type { StreamName } from '../../events/index.js';
import { listSensitiveValues } from './environment.js';
import { listSecretForms } from './secret-forms.js';

/** Secrets that must never be stored. */
export interface SecretsOptions {
  /** Secrets in plain form. Those under six bytes and ordinary values (`true`, short numbers) are not masked. */
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
 * also found inside JSON, once or twice encoded, in base64, hex, URLs, HTML and shell words, line by line if it has several
 * lines, wrapped over several lines, and wherever a chunk is cut. A pattern matches bytes in linear time: no look-around, no back-references, `^` and `$` are the ends of a line.
 *
 * @example
 * const secrets = compileSecrets({ values: ['sk-12345678'], patterns: ['ghp_\\w{36}'] });
 * secrets.maskText('key sk-12345678.') // 'key ***********.'
 */
export function compileSecrets({ values, patterns = [] }: SecretsOptions): Secrets {
  const words = [...new Set(values)].flatMap(listSecretForms);
  const finder = words.length === 0 ? undefined : createWordFinder(words);
  const longWords = words.filter(({ length }) => length >= MIN_WRAPPED_BYTES);
  const wrapped = longWords.length === 0 ? undefined : createWordFinder(longWords);
  const programs = patterns.map(compileBytePattern);

  function createMasker(): Masker {
    const maskers = [
      ...(finder === undefined ? [] : [createWordMasker(finder)]),
      ...(wrapped === undefined ? [] : [createWrappedMasker(wrapped)]),
      ...programs.map(createPatternMasker),
    ];
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
  /** Returns the bytes that were held back; later bytes are masked separately. */
  endMask(): { readonly stream: StreamName; readonly bytes: Uint8Array }[];
  maskText(text: string): string;
}

/** The secrets are the values of sensitive variables the agent gets, and what the configured patterns match. */
export function createAttemptSecrets(
  env: Readonly<Record<string, string>>,
  patterns: readonly string[],
): AttemptSecrets {
  const secrets = compileSecrets({ values: listSensitiveValues(env), patterns });
  const maskers = new Map<StreamName, Masker>();
  return {
    mask(stream, bytes) {
      const masker = maskers.get(stream) ?? secrets.createMasker();
      maskers.set(stream, masker);
      return masker.push(bytes);
    },
    endMask() {
      const rest = [...maskers].map(([stream, masker]) => ({ stream, bytes: masker.end() }));
      maskers.clear();
      return rest;
    },
    maskText: (text) => secrets.maskText(text),
  };
}
