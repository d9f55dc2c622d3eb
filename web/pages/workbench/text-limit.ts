/**
 * The most that is taken from a file or the clipboard, in bytes or UTF-16 units. Reading keeps up to sixty times as much:
 * a browser gives a page a few gigabytes at most.
 */
export const LONGEST_TEXT = 16 * 1024 * 1024;

/**
 * Says why a text of this length is not taken; null for one that is.
 *
 * @example
 * sayTooLong('log.txt', 20 * 1024 * 1024) // 'log.txt has 20 MB; the workbench takes up to 16 MB. …'
 */
export function sayTooLong(name: string, length: number): string | null {
  if (length <= LONGEST_TEXT) return null;
  // Rounded up: what is refused never looks as if it would fit.
  const has = Math.ceil((length / 1024 / 1024) * 10) / 10;
  return `${name} has ${has} MB; the workbench takes up to ${LONGEST_TEXT / 1024 / 1024} MB. On the command line, sluice parse takes more.`;
}
