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

/*
 * Text written by an agent is shown in comments, terminals and the console. The pattern is in `base` so all of them can
 * import it; each escapes the characters differently.
 */

/**
 * Characters that can disguise text: control characters except tab and line feed, invisible characters, characters that
 * change the writing direction, tag characters, line separators, and lone surrogates.
 *
 * @example
 * 'user\u202Egpj.exe'.replaceAll(INVISIBLE_CHARACTERS, '?') // 'user?gpj.exe'
 */
// Created by a pure function call, so a bundler can drop it from pages that do not use it.
export const INVISIBLE_CHARACTERS = /* @__PURE__ */ createPattern();

function createPattern(): RegExp {
  /** Scripts that use joiners within words. */
  const joiningScripts =
    String.raw`\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}` +
    String.raw`\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}`;
  /**
   * Sequences where an invisible character is part of a visible one: 👩‍💻, ❤️, 1️⃣, a Persian word, a variant of an
   * ideograph.
   */
  const visibleSequences = [
    String.raw`(?:\p{Extended_Pictographic}\ufe0f?|\p{Emoji_Modifier})\u200d(?=\p{Extended_Pictographic})`,
    String.raw`\p{Extended_Pictographic}[\ufe0e\ufe0f]`,
    String.raw`[0-9#*]\ufe0f(?=\u20e3)`,
    String.raw`[${joiningScripts}][\u200c\u200d](?=[${joiningScripts}])`,
    String.raw`\p{Script=Han}[\ufe00-\ufe02\u{e0100}-\u{e01ef}]`,
    String.raw`\p{Script=Mongolian}[\u180b-\u180f]`,
  ].join('|');
  return new RegExp(
    String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u009f\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb\p{Surrogate}]` +
      `(?<!${visibleSequences})`,
    'gu',
  );
}

/**
 * Formats an invisible character for display: Unicode's symbol for a control character, otherwise its code point.
 *
 * @example
 * formatInvisible('\u001b') // '␛'
 * formatInvisible('\u202e') // 'U+202E'
 */
export function formatInvisible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? '\u2421' : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for an element or a quoted attribute of HTML or XML. */
export function escapeMarkup(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
