/**
 * How many bytes stand before a position of a decoded line. `invalid` are the line's bytes where the decoder had to
 * substitute some. There the ASCII characters, which never take part in a substitution, are counted on both sides:
 * exact if one of them stands before or at the position.
 */
export function bytePosition(text: string, position: number, invalid: Uint8Array | null): number {
  return invalid === null ? utf8Length(text, position) : countedPosition(text, position, invalid);
}

function utf8Length(text: string, end: number): number {
  let bytes = end;
  for (let index = 0; index < end; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    // A surrogate is half of a four-byte character.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}

function countedPosition(text: string, position: number, bytes: Uint8Array): number {
  let wanted = 0;
  for (let index = 0; index < position; index++) if (text.charCodeAt(index) < 0x80) wanted++;
  const afterAscii = position > 0 && text.charCodeAt(position - 1) < 0x80;
  if (!afterAscii) wanted++;
  for (let index = 0; index < bytes.length; index++) {
    if ((bytes[index] ?? 0) >= 0x80) continue;
    wanted--;
    if (wanted === 0) return afterAscii ? index + 1 : index;
  }
  return bytes.length;
}
