import type { Masker } from './masker.js';
import { createPatternMasker } from './pattern-masker.js';
import { createWordMasker } from './word-masker.js';
import { compileBytePattern } from './byte-pattern.js';
import { listSecretForms } from './secret-forms.js';
import { createWordFinder } from './word-finder.js';

/** What must never be written down. */
export interface SecretsOptions {
  /** Secrets as they are. Those under six bytes and plain words of settings (`true`, short numbers) are left alone. */
  readonly values: readonly string[];
  /** Regular expressions of secrets nobody knows beforehand; see {@link compileSecrets}. */
  readonly patterns?: readonly string[];
}

/** Ready to be looked for; made once for a run and used for all its streams. */
export interface Secrets {
  /** A masker for one stream. */
  createMasker(): Masker;
  /** For a text that is whole: a message, a prompt. */
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

  return {
    createMasker,
    maskText(text) {
      if (finder === undefined && programs.length === 0) return text;
      const masker = createMasker();
      const bytes = Buffer.from(text);
      const masked = Buffer.concat([masker.push(bytes), masker.end()]);
      return masked.equals(bytes) ? text : masked.toString();
    },
  };
}
