const MARK: unique symbol = Symbol.for('sluice.error');

/**
 * The base class of every error Sluice throws. Branch on `code`; the message explains what to do.
 *
 * @example
 * try { parseOrThrow(text, schema) } catch (error) {
 *   if (isSluiceError(error) && error.code === 'TRUNCATED') requestShorterAnswer()
 * }
 */
export class SluiceError<Code extends string = string> extends Error {
  override readonly name: string = 'SluiceError';
  readonly code: Code;
  /** Identifies the error even if two copies of the package are loaded, unlike `instanceof`. */
  readonly [MARK] = true;

  constructor(code: Code, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }

  /**
   * For `JSON.stringify`: includes the message, which is not enumerable on errors, and serializes bigints as digits.
   */
  toJSON(): unknown {
    return copyAsJson(Object.assign({ message: this.message }, this));
  }
}

/** Copies a value through JSON, with bigints as strings. */
export function copyAsJson(value: object): unknown {
  return JSON.parse(JSON.stringify(value, writeBigint));
}

/** For `JSON.stringify`: serializes bigints as digit strings. */
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
