/**
 * Stands for a text when only equality matters: long lines need not be kept to be compared. Two independent 32-bit
 * hashes and the length; nobody gains anything from a collision but a line of their own output told once.
 */
export function textKey(text: string): string {
  const plain = text.trim();
  let one = 0x811c9dc5;
  let two = 0x9e3779b9;
  for (let index = 0; index < plain.length; index++) {
    const unit = plain.charCodeAt(index);
    one = Math.imul(one ^ unit, 0x01000193);
    two = Math.imul(two + unit, 0x85ebca6b) ^ (two >>> 13);
  }
  return `${plain.length}:${one >>> 0}:${two >>> 0}`;
}
