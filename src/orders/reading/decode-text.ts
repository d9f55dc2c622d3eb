import type { Problem } from '../../records/index.js';

/** The text of a result file, or why it is none. */
export type DecodedText =
  | { readonly text: string; readonly problem?: undefined }
  | { readonly text?: undefined; readonly problem: Problem };

/**
 * UTF-8, with or without a byte order mark, or UTF-16 that says so with one: some shells write that. Nothing is guessed
 * and nothing replaced.
 */
export function decodeText(bytes: Uint8Array): DecodedText {
  try {
    const text = new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return { text };
  } catch {
    // Said below: bytes that are no text and text with NUL in it are the same to a worker's author.
  }
  return { problem: { code: 'RESULT_NOT_UTF8', message: 'it is not UTF-8 text; write it as UTF-8' } };
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}
