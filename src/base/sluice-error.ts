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

  /** For `JSON.stringify`: includes the message, which is not enumerable, and writes bigints as digits. */
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

/** Returns the `code` of a thrown error (`ENOENT`), or undefined. */
export function getErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

export function getErrorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Error codes of files that an agent could have written; `docs/errors.md` explains each. */
export const FILE_ERROR_CODES = ['UNSAFE_FILE', 'FILE_TOO_LARGE', 'FILE_UNREADABLE'] as const;

/** One of `FILE_ERROR_CODES`. */
export type FileErrorCode = (typeof FILE_ERROR_CODES)[number];

/**
 * A file that cannot be opened safely: a link, a device, too large, or not readable.
 *
 * @example
 * if (error instanceof FileError && error.code === 'UNSAFE_FILE') console.error(error.message)
 */
export class FileError extends SluiceError<FileErrorCode> {
  override readonly name = 'FileError';
}

/** A file that can be read at any position: an open file, or part of one. */
export interface ReadableFile {
  stat(): Promise<{ readonly size: number }>;
  /** Reads into a buffer; can read fewer bytes than requested, and zero at the end of the file. */
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>;
  close(): Promise<void>;
}

export interface AppendableFile {
  readonly fd: number;
  appendFile(data: string | Uint8Array): Promise<void>;
  datasync(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a file; undefined if it does not exist (yet). */
export type OpenFile = () => Promise<ReadableFile | undefined>;

/** The boundary for following links. In `base`, because public types use it and must not depend on Node.js types. */
export interface TrustedRoot {
  /** Links below this folder are not followed; by default the parent of the folder being accessed. */
  readonly trustedRoot?: string | undefined;
}
