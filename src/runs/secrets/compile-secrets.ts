import type { Masker } from './mask-words.js';
import { createPatternMasker, compileBytePattern } from './mask-patterns.js';
import { createWrappedMasker, MIN_WRAPPED_BYTES, createWordMasker, createWordFinder } from './mask-words.js';
import type { StreamName } from '../../events/index.js';
import { listSensitiveValues } from './environment.js';
import { listSecretForms } from './secret-forms.js';

/** Secrets to mask. */
export interface SecretsOptions {
  /**
   * Secrets in plain text. Values shorter than six bytes and ordinary values (`true`, short numbers) are not masked.
   */
  readonly values: readonly string[];
  /** Regular expressions for secrets that are not known in advance; see {@link compileSecrets}. */
  readonly patterns?: readonly string[];
}

/** Compiled secrets, used for all streams of a run. */
export interface Secrets {
  /** Creates a masker for one stream. */
  createMasker(): Masker;
  /** Masks complete bytes, such as a file. */
  mask(bytes: Uint8Array): Uint8Array;
  /** Masks a complete string, such as a message or a prompt. */
  maskText(text: string): string;
}

/**
 * Compiles secrets, which are masked with asterisks of the same length in bytes, so byte ranges stay valid. A value is
 * also found in JSON (encoded once or twice), base64, hex, URLs, HTML and shell arguments, line by line if it has
 * multiple lines, wrapped over multiple lines, and across chunks. A pattern matches bytes in linear time: no
 * look-around, no back-references, `^` and `$` match the ends of a line.
 *
 * @example
 * const secrets = compileSecrets({ values: ['sk-12345678'], patterns: ['ghp_\\w{36}'] });
 * secrets.maskText('key sk-12345678.') // 'key ***********.'
 */
export function compileSecrets({ values, patterns = [] }: SecretsOptions): Secrets {
  const words = [...new Set(values)].flatMap(listSecretForms);
  const finder = words.length === 0 ? undefined : createWordFinder(words);
  const longWords = words.filter(({ length }) => length >= MIN_WRAPPED_BYTES);
  const wrappedFinder = longWords.length === 0 ? undefined : createWordFinder(longWords);
  const programs = patterns.map(compileBytePattern);

  function createMasker(): Masker {
    const maskers = [
      ...(finder === undefined ? [] : [createWordMasker(finder)]),
      ...(wrappedFinder === undefined ? [] : [createWrappedMasker(wrappedFinder)]),
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

/** Masks an attempt's secrets in everything that is stored, without changing the length. */
export interface AttemptSecrets {
  /** Masks the next bytes of a stream; bytes that could be the start of a secret are held back. */
  mask(stream: StreamName, bytes: Uint8Array): Uint8Array;
  /** Returns the bytes that were held back; later bytes are masked separately. */
  endMask(): { readonly stream: StreamName; readonly bytes: Uint8Array }[];
  maskText(text: string): string;
}

/**
 * Creates an attempt's maskers. Secrets are the values of sensitive environment variables and matches of the configured
 * patterns.
 */
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
      const heldChunks = [...maskers].map(([stream, masker]) => ({ stream, bytes: masker.end() }));
      maskers.clear();
      return heldChunks;
    },
    maskText: (text) => secrets.maskText(text),
  };
}
