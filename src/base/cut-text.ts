/** Returns at most `length` characters from the start of a string, without splitting a surrogate pair. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const lastUnit = text.charCodeAt(length - 1);
  const splitsPair = lastUnit >= 0xd800 && lastUnit <= 0xdbff;
  return text.slice(0, splitsPair ? length - 1 : length);
}

/**
 * Returns a string with at most `length` characters of the original; `…` marks the omission.
 *
 * @example
 * truncate('abc', 2) // 'ab…'
 */
export function truncate(text: string, length: number): string {
  return text.length <= length ? text : `${cutText(text, length)}…`;
}
