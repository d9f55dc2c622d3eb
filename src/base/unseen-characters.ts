/*
 * What an agent wrote is shown in comments, terminals and the console. It stands on this floor because all who show it may
 * import it; each writes these characters out in its own way.
 */

/**
 * Characters with which a text can look other than it is: control characters but tab and line feed, what is invisible or
 * turns the direction of writing, hidden tags, line separators, and halves of characters.
 *
 * @example
 * 'user\u202Egpj.exe'.replaceAll(UNSEEN_CHARACTERS, '?') // 'user?gpj.exe'
 */
// Made by a function, so that a page that shows no such text does not load it.
export const UNSEEN_CHARACTERS = /* @__PURE__ */ createPattern();

function createPattern(): RegExp {
  /** Scripts whose words are spelled with joiners. */
  const joining =
    String.raw`\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}` +
    String.raw`\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}`;
  /** Where an invisible character is part of one that is seen: 👩‍💻, ❤️, 1️⃣, a word of Persian, an ideograph in the form of a name. */
  const partOfSeen = [
    String.raw`(?:\p{Extended_Pictographic}\ufe0f?|\p{Emoji_Modifier})\u200d(?=\p{Extended_Pictographic})`,
    String.raw`\p{Extended_Pictographic}[\ufe0e\ufe0f]`,
    String.raw`[0-9#*]\ufe0f(?=\u20e3)`,
    String.raw`[${joining}][\u200c\u200d](?=[${joining}])`,
    String.raw`\p{Script=Han}[\ufe00-\ufe02\u{e0100}-\u{e01ef}]`,
    String.raw`\p{Script=Mongolian}[\u180b-\u180f]`,
  ].join('|');
  return new RegExp(
    String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u009f\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb\p{Surrogate}]` +
      `(?<!${partOfSeen})`,
    'gu',
  );
}

/**
 * What to show instead of such a character: the sign that Unicode has for a control character, or its number.
 *
 * @example
 * formatUnseen('\u001b') // '␛'
 * formatUnseen('\u202e') // 'U+202E'
 */
export function formatUnseen(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? '\u2421' : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
