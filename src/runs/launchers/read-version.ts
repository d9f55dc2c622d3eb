/** Longer texts are no version: the rest is not looked at. */
const LONGEST_TEXT = 4096;

/** Not a part of a longer number, such as an address. */
const VERSION = /(?<![\w.])v?(\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[\w.]{1,40})?)(?!\.?\d)/u;

/**
 * The first version in what a program printed.
 *
 * @example
 * readVersion('codex-cli 0.166.0') // '0.166.0'
 */
export function readVersion(text: string): string | undefined {
  return VERSION.exec(text.slice(0, LONGEST_TEXT))?.[1];
}
