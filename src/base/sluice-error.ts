const MARK: unique symbol = Symbol.for('sluice.error');

/**
 * The base of every error Sluice throws. Branch on `code`; the message says what to do.
 *
 * @example
 * try { parseOrThrow(text, schema) } catch (error) {
 *   if (isSluiceError(error) && error.code === 'TRUNCATED') requestShorterAnswer()
 * }
 */
export class SluiceError<Code extends string = string> extends Error {
  override readonly name: string = 'SluiceError';
  readonly code: Code;
  /** Identifies the error even if a program loads two copies of the package; `instanceof` would not. */
  readonly [MARK] = true;

  constructor(code: Code, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }

  /** For `JSON.stringify`: includes the message, which is not enumerable on errors, and writes bigints as digits. */
  toJSON(): unknown {
    return copyAsJson(Object.assign({ message: this.message }, this));
  }
}

/** Copies a value through JSON, with bigints as strings. */
export function copyAsJson(value: object): unknown {
  return JSON.parse(JSON.stringify(value, writeBigint));
}

/** For `JSON.stringify`: writes bigints as strings with their digits. */
export function writeBigint(_key: string, part: unknown): unknown {
  return typeof part === 'bigint' ? `${part}` : part;
}

/**
 * Whether a thrown value is a Sluice error.
 *
 * @example
 * isSluiceError(new SluiceError('NO_JSON', 'No JSON found.')) // true
 */
export function isSluiceError(thrown: unknown): thrown is SluiceError {
  return typeof thrown === 'object' && thrown !== null && MARK in thrown;
}
