/** Returns at most `length` characters from the start of a string, without splitting a surrogate pair. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const lastUnit = text.charCodeAt(length - 1);
  const splitsPair = lastUnit >= 0xd800 && lastUnit <= 0xdbff;
  return text.slice(0, splitsPair ? length - 1 : length);
}

/** Returns a string with at most `length` characters of the original; `…` marks the omission. */
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
  const joiningScripts =
    String.raw`\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}` +
    String.raw`\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}`;
  /** Where an invisible character is part of a visible one: 👩‍💻, ❤️, 1️⃣, a Persian word, an ideograph. */
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

/** One step of a pattern: a literal character, any one character except a slash, or any number of characters. */
type Step =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'one' }
  /** Does not match a slash. */
  | { readonly kind: 'segment' }
  | { readonly kind: 'all' }
  /** Precedes the steps of `**` and its slash: both can be skipped, so `**` also matches zero folders. */
  | { readonly kind: 'folders' };

/**
 * Whether a pattern matches an entire string. `*` matches any characters; with `segments`, any except a slash, and `**` matches
 * slashes too. Takes time proportional to the product of both lengths, for any input.
 *
 * @example
 * matchGlob('src/*.ts', 'src/a.ts', { segments: true }) // true
 */
export function matchGlob(
  pattern: string,
  text: string,
  { segments = false }: { readonly segments?: boolean } = {},
): boolean {
  const steps = pattern.split(/(\*+)/u).flatMap((token): readonly Step[] => {
    if (!token.startsWith('*')) return Array.from(token, (letter) => ({ kind: 'literal', text: letter }));
    return [segments && token.length === 1 ? { kind: 'segment' } : { kind: 'all' }];
  });
  return matchSteps(steps, text);
}

/**
 * Whether a path matches a glob: `*` matches characters within a name, `**` any folders, `?` one character. A glob that
 * ends with `/` means everything in that folder; a glob without wildcards means that file, or everything in that
 * folder. Takes time proportional to the product of both lengths.
 *
 * @example
 * matchPathGlob('src/**', 'src/a/b.ts') // true
 * matchPathGlob('src/*.ts', 'src/a/b.ts') // false
 */
export function matchPathGlob(glob: string, path: string): boolean {
  const cleaned = glob.replace(/^\.?\/+/, '');
  if (!/[*?]/.test(cleaned)) {
    const folder = cleaned.replace(/\/+$/, '');
    return folder === '' || path === folder || path.startsWith(`${folder}/`);
  }
  const parts = (cleaned.endsWith('/') ? `${cleaned}**` : cleaned).split('/');
  const steps = parts.flatMap((part, index) => {
    const end: readonly Step[] = index === parts.length - 1 ? [] : [{ kind: 'literal', text: '/' }];
    if (part !== '**') return [...Array.from(part, toStep), ...end];
    const all: readonly Step[] = [{ kind: 'all' }, ...end];
    return end.length === 0 ? all : [{ kind: 'folders' } as const, ...all];
  });
  return matchSteps(steps, path);
}

function toStep(letter: string): Step {
  if (letter === '*') return { kind: 'segment' };
  return letter === '?' ? { kind: 'one' } : { kind: 'literal', text: letter };
}

/** Simulates the pattern character by character, tracking the possible next steps. */
function matchSteps(steps: readonly Step[], text: string): boolean {
  let active = skipEmpty(steps, [0]);
  for (const letter of text) {
    const next: number[] = [];
    for (const at of active) {
      const step = steps[at];
      if (step === undefined) continue;
      if (step.kind === 'all' || (step.kind === 'segment' && letter !== '/')) next.push(at);
      else if (step.kind === 'literal' ? step.text === letter : step.kind === 'one' && letter !== '/')
        next.push(at + 1);
    }
    if (next.length === 0) return false;
    active = skipEmpty(steps, next);
  }
  return active.has(steps.length);
}

/** Adds the steps that can be reached without reading a character. */
function skipEmpty(steps: readonly Step[], from: readonly number[]): ReadonlySet<number> {
  const reachable = new Set(from);
  for (const at of reachable) {
    const kind = steps[at]?.kind;
    if (kind === 'segment' || kind === 'all' || kind === 'folders') reachable.add(at + 1);
    // After `**` and its slash.
    if (kind === 'folders') reachable.add(at + 3);
  }
  return reachable;
}

const MAX_NAME_LENGTH = 64;

/**
 * Finds the known name that a misspelled one was probably meant to be: the one with the fewest changed letters, at most
 * a third of the longer one. Case and separators do not count.
 *
 * @example
 * findNearestName('maxRetry', ['max_retries', 'mode']) // 'max_retries'
 */
export function findNearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = foldName(name.slice(0, MAX_NAME_LENGTH));
  let nearest: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const folded = foldName(candidate);
    const distance = countEdits(wanted, folded);
    if (distance >= fewest || distance > Math.max(1, Math.max(wanted.length, folded.length) / 3)) continue;
    fewest = distance;
    nearest = candidate;
  }
  return nearest;
}

function foldName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.\s]/g, '');
}

/** Counts the letters to insert, delete or replace to turn one string into the other. */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let index = 0; index < from.length; index += 1) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (from[index] === to[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
