import {
  createWrappedMasker,
  MIN_WRAPPED_BYTES,
  createWordMasker,
  createWordFinder,
  type Masker,
  type WordFinder,
} from './mask-words.js';
import { createDumpMasker, createPatternMasker, compileSecretPattern } from './mask-patterns.js';
import { escapeMarkup } from '../../base/index.js';
import type { StreamName } from '../../events/index.js';
import { listSensitiveValues } from './environment.js';

export type Secrets = ReturnType<typeof compileSecrets>;

/**
 * Compiles secrets, which are masked with asterisks of the same length in bytes, so byte ranges stay valid. A value is
 * also found in JSON (encoded once or twice), base64, hex, hex dumps, URLs, HTML and shell arguments, line by line if it has
 * multiple lines, wrapped over multiple lines, and across chunks. A pattern matches bytes in linear time: no
 * look-around, no back-references, `^` and `$` match the ends of a line.
 */
export function compileSecrets({
  values,
  patterns = [],
}: {
  /** Secrets in plain text. Values shorter than six bytes and ordinary values are not masked. */
  readonly values: readonly string[];
  /** Regular expressions for secrets that are not known in advance. */
  readonly patterns?: readonly string[];
}) {
  const secrets = [...new Set(values)];
  const words = secrets.flatMap(listSecretForms);
  const dumped = secrets.flatMap(listSecretTexts).filter((text) => text.length <= MAX_ESCAPED_BYTES);
  const factories = [
    // First, because it needs whole rows.
    ...prepareMasker(
      dumped.map((text) => Buffer.from(text)),
      createDumpMasker,
    ),
    ...prepareMasker(words, createWordMasker),
    ...prepareMasker(
      words.filter(({ length }) => length >= MIN_WRAPPED_BYTES),
      createWrappedMasker,
    ),
    ...patterns.map(compileSecretPattern).map((program) => () => createPatternMasker(program)),
  ];

  function createMasker(): Masker {
    const maskers = factories.map((create) => create());
    return {
      push: (bytes) => maskers.reduce((rest, masker) => masker.push(rest), bytes),
      end: () => maskers.reduce((rest, masker) => Buffer.concat([masker.push(rest), masker.end()]), new Uint8Array()),
    };
  }

  /** Masks complete bytes, such as a file. */
  function mask(bytes: Uint8Array): Uint8Array {
    if (factories.length === 0) return bytes;
    const masker = createMasker();
    return Buffer.concat([masker.push(bytes), masker.end()]);
  }

  return {
    createMasker,
    mask,
    /** Masks a complete string, such as a message or a prompt. */
    maskText(text: string): string {
      const bytes = Buffer.from(text);
      const masked = Buffer.from(mask(bytes));
      return masked.equals(bytes) ? text : masked.toString();
    },
  };
}

/** Prepares the creation of maskers for the same words, if there are any. */
function prepareMasker(
  words: readonly Uint8Array[],
  createMasker: (finder: WordFinder) => Masker,
): readonly (() => Masker)[] {
  if (words.length === 0) return [];
  const finder = createWordFinder(words);
  return [() => createMasker(finder)];
}

/** Masks an attempt's secrets in everything that is stored, without changing the length. */
export type AttemptSecrets = ReturnType<typeof createAttemptSecrets>;

/** Masks the values of sensitive environment variables, and matches of the configured patterns. */
export function createAttemptSecrets(env: Readonly<Record<string, string>>, patterns: readonly string[]) {
  const secrets = compileSecrets({ values: listSensitiveValues(env), patterns });
  const maskers = new Map<StreamName, Masker>();
  return {
    /** Masks the next bytes of a stream; bytes that could be the start of a secret are held back. */
    mask(stream: StreamName, bytes: Uint8Array): Uint8Array {
      const masker = maskers.get(stream) ?? secrets.createMasker();
      maskers.set(stream, masker);
      return masker.push(bytes);
    },
    /** Returns the bytes that were held back; later bytes are masked separately. */
    endMask() {
      const heldChunks = [...maskers].map(([stream, masker]) => ({ stream, bytes: masker.end() }));
      maskers.clear();
      return heldChunks;
    },
    maskText: (text: string) => secrets.maskText(text),
  };
}

/** A shorter value would match by chance, and ordinary text would be masked. */
const MIN_BYTES = 6;
/** Longer values are matched in parts, so few bytes are held back, and fragments of a key are masked too. */
const PART_BYTES = 1024;
/** A key's lines are matched individually, because tools can indent them or change the line ends. */
const MIN_LINE_BYTES = 16;
/** Forms with multiple characters per byte are matched up to this length: longer secrets are files. */
const MAX_ESCAPED_BYTES = 256;

/** Common setting values; a short number is more likely a port, a limit or a year. */
const ORDINARY_VALUE =
  /^(?:true|false|null|undefined|default|enabled|disabled|required|optional|always|bearer|\d{1,11}|(.)\1*)$/i;

/**
 * Lists the byte sequences that represent a secret: unchanged, in JSON (encoded once or twice), in base64 at each of
 * three shifts, in hex, in a URL, in HTML, in a shell argument. Empty for a value that is too short or too common to be
 * a secret.
 *
 * @example
 * listSecretForms('p"ssword') // the bytes of p"ssword, p\"ssword, p%22ssword, cCJzc3dvcm, …
 */
export function listSecretForms(value: string): Uint8Array[] {
  const forms = new Set(listSecretTexts(value).flatMap(encode));
  return [...forms].flatMap((form) => splitBytes(Buffer.from(form)));
}

/** Lists a secret and its lines, unless they are too short or too common. */
function listSecretTexts(value: string): string[] {
  const trimmed = value.trim();
  const lines = trimmed.split(/\r?\n/).filter((line) => isLongLine(line.trim()));
  const texts = trimmed.includes('\n') ? [trimmed, ...lines.map((line) => line.trim())] : [trimmed];
  return texts.filter(isSecret);
}

function isSecret(text: string): boolean {
  return Buffer.byteLength(text) >= MIN_BYTES && !ORDINARY_VALUE.test(text);
}

/** Whether a line is long enough to be matched. The header of a key (`-----BEGIN …`) is public. */
function isLongLine(line: string): boolean {
  return line.length >= MIN_LINE_BYTES && !line.startsWith('-----');
}

function encode(text: string): string[] {
  const forms = [text];
  for (const once of JSON_ENCODERS) {
    const encoded = once(text);
    forms.push(encoded, ...JSON_ENCODERS.map((twice) => twice(encoded)));
  }
  const hex = Buffer.from(text).toString('hex');
  forms.push(...listBase64(text), hex, hex.toUpperCase());
  if (Buffer.byteLength(text) <= MAX_ESCAPED_BYTES)
    forms.push(...ENCODERS.map((encoder) => encoder(text)), ...listHexGroups(hex));
  return forms;
}

/** The number of bytes that tools such as `xxd` and `hexdump` print between two spaces. */
const GROUP_BYTES = [1, 2, 4, 8];

/** Returns the lines of a hex dump that contain a secret: it can start anywhere in a group. */
function listHexGroups(hex: string): string[] {
  return GROUP_BYTES.flatMap((bytes) =>
    Array.from({ length: bytes }, (_, missing) => {
      const padded = ' '.repeat(2 * missing) + hex;
      const groups = padded.match(new RegExp(`.{1,${2 * bytes}}`, 'g')) ?? [];
      return groups.join(' ').trimStart();
    }),
  ).flatMap((grouped) => [grouped, grouped.toUpperCase()]);
}

/** Some encoders escape non-ASCII characters, some the slash, some special HTML characters. */
const JSON_ENCODERS: readonly ((text: string) => string)[] = [
  escapeJson,
  (text) => escapeJson(text).replaceAll(/[^\0-\x7e]/g, (unit) => escapeUnit(unit)),
  (text) => escapeJson(text).replaceAll(/[^\0-\x7e]/g, (unit) => escapeUnit(unit).toUpperCase().replace('U', 'u')),
  (text) => escapeJson(text).replaceAll('/', String.raw`\/`),
  (text) => escapeJson(text).replaceAll(/[<>&]/g, escapeUnit),
];

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function escapeUnit(unit: string): string {
  return String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** The encodings of a string in URLs, HTML, shells and escape sequences. */
const ENCODERS: readonly ((text: string) => string)[] = [
  ...[toHexByte, (byte: number) => toHexByte(byte).toUpperCase()].flatMap((toHex) => [
    (text: string) => encodeBytes(text, (byte) => `%${toHex(byte)}`),
    (text: string) => encodeBytes(text, (byte) => `%${toHex(byte)}`, UNRESERVED),
    (text: string) => encodeBytes(text, (byte) => `%${toHex(byte)}`, UNRESERVED).replaceAll('%20', '+'),
    (text: string) => encodeBytes(text, (byte) => `%${toHex(byte)}`, URL_COMPONENT),
    (text: string) => encodeBytes(text, (byte) => `%${toHex(byte)}`, URL_TEXT),
    (text: string) => encodeBytes(text, (byte) => String.raw`\x${toHex(byte)}`),
    (text: string) => encodeBytes(text, toHex, MATCHES_NOTHING, ':'),
    (text: string) => encodeBytes(text, toHex, MATCHES_NOTHING, '-'),
  ]),
  (text) => encodeBytes(text, String, MATCHES_NOTHING, ','),
  (text) => encodeBytes(text, String, MATCHES_NOTHING, ', '),
  (text) => text.replaceAll(/[^]/g, escapeUnit),
  (text) => text.replaceAll(/[^]/g, (unit) => escapeUnit(unit).toUpperCase().replace('U', 'u')),
  ...['&#39;', '&#x27;', '&apos;', '&#039;', "'"].map(
    (apostrophe) => (text: string) => escapeMarkup(text).replaceAll('&#39;', apostrophe),
  ),
  (text) => text.replaceAll(/[^]/gu, (character) => `&#${character.codePointAt(0)};`),
  (text) => text.replaceAll(/[^]/gu, (character) => `&#x${(character.codePointAt(0) ?? 0).toString(16)};`),
  (text) => text.replaceAll("'", String.raw`'\''`),
  (text) => text.replaceAll("'", `'"'"'`),
  (text) => text.replaceAll(/["$`\\]/g, String.raw`\$&`),
  (text) => text.replaceAll(/["$`\\!]/g, String.raw`\$&`),
  (text) => text.replaceAll(/[^\w@%+=:,./-]/g, String.raw`\$&`),
];

const MATCHES_NOTHING = /(?!)/;
/** Characters that `encodeURIComponent` does not escape. */
const URL_COMPONENT = /[\w.~!*'()-]/;
const UNRESERVED = /[\w.~-]/;
/** Characters that are not escaped in a complete URL. */
const URL_TEXT = /[\w.~!*'();:@&=+$,/?#[\]-]/;

function encodeBytes(
  text: string,
  encodeByte: (byte: number) => string,
  kept = MATCHES_NOTHING,
  separator = '',
): string {
  return [...Buffer.from(text)]
    .map((byte) => (byte < 0x80 && kept.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : encodeByte(byte)))
    .join(separator);
}

function toHexByte(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

/** Shorter base64 would match by chance. */
const MIN_BASE64_LENGTH = 7;

/** The base64 characters that depend only on the secret, in both alphabets, and escaped. */
function listBase64(text: string): string[] {
  const bytes = Buffer.from(text);
  return [0, 1, 2].flatMap((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    const known = encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
    if (known.length < MIN_BASE64_LENGTH) return [];
    return [
      known,
      known.replaceAll('+', '-').replaceAll('/', '_'),
      known.replaceAll('/', String.raw`\/`),
      known.replaceAll('+', '%2B').replaceAll('/', '%2F'),
    ];
  });
}

/** Splits bytes at character boundaries, so masking a part does not leave half a character. */
function splitBytes(bytes: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let from = 0;
  while (bytes.length - from > 2 * PART_BYTES) {
    let to = from + PART_BYTES;
    while (((bytes[to] ?? 0) & 0xc0) === 0x80) to -= 1;
    parts.push(bytes.subarray(from, to));
    from = to;
  }
  parts.push(bytes.subarray(from));
  return parts;
}
