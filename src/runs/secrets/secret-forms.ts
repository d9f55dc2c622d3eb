/** A shorter value would be found by chance, and stars would hide what is not a secret. */
const MIN_BYTES = 6;
/** Longer ones are looked for in pieces: so little has to be held back, and a part of a key is hidden too. */
const PIECE_BYTES = 1024;
/** Lines of a key are looked for one by one, because programs indent them or end them in their own way. */
const MIN_LINE_BYTES = 16;
/** Forms that take several characters for each byte are looked for up to this length: longer secrets are files. */
const MAX_SPELLED_BYTES = 256;

/** Values of on/off settings; a number this short is more likely a port, a limit or a year. */
const NO_SECRET =
  /^(?:true|false|null|undefined|default|enabled|disabled|required|optional|always|bearer|\d{1,11}|(.)\1*)$/i;

/**
 * The byte sequences by which a secret may appear: as it is, inside JSON, once or twice encoded, in base64 at each of three
 * shifts, in hex, in a URL, in HTML, in a shell word. Empty for a value that is too short or too common to be a secret.
 *
 * @example
 * listSecretForms('p"ssword') // the bytes of p"ssword, p\"ssword, p%22ssword, cCJzc3dvcm, …
 */
export function listSecretForms(value: string): Uint8Array[] {
  const whole = value.trim();
  const lines = whole.split(/\r?\n/).filter((line) => isLongLine(line.trim()));
  const texts = whole.includes('\n') ? [whole, ...lines.map((line) => line.trim())] : [whole];
  const forms = new Set(texts.filter(isSecret).flatMap(encode));
  return [...forms].flatMap((form) => cut(Buffer.from(form)));
}

function isSecret(text: string): boolean {
  return Buffer.byteLength(text) >= MIN_BYTES && !NO_SECRET.test(text);
}

/** The frame of a key (`-----BEGIN …`) is public. */
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
  if (Buffer.byteLength(text) <= MAX_SPELLED_BYTES) forms.push(...SPELLERS.map((spell) => spell(text)));
  return forms;
}

/** How programs write a text into JSON: some escape all but ASCII, some the slash, some the special characters of HTML. */
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

/** How URLs, HTML, shells and escapes spell a text. */
const SPELLERS: readonly ((text: string) => string)[] = [
  (text) => spellBytes(text, (byte) => `%${toHexByte(byte)}`, UNRESERVED),
  (text) => spellBytes(text, (byte) => `%${toHexByte(byte).toUpperCase()}`, UNRESERVED),
  (text) => spellBytes(text, (byte) => `%${toHexByte(byte).toUpperCase()}`, UNRESERVED).replaceAll('%20', '+'),
  (text) => spellBytes(text, (byte) => `%${toHexByte(byte).toUpperCase()}`, URL_COMPONENT),
  (text) => spellBytes(text, (byte) => `%${toHexByte(byte).toUpperCase()}`, URL_TEXT),
  (text) => spellBytes(text, (byte) => `%${toHexByte(byte)}`),
  (text) => spellBytes(text, (byte) => `%${toHexByte(byte).toUpperCase()}`),
  (text) => spellBytes(text, (byte) => String.raw`\x${toHexByte(byte)}`),
  (text) => spellBytes(text, (byte) => String.raw`\x${toHexByte(byte).toUpperCase()}`),
  (text) => spellBytes(text, toHexByte, NONE, ' '),
  (text) => spellBytes(text, toHexByte, NONE, ':'),
  (text) => text.replaceAll(/[^]/g, escapeUnit),
  (text) => text.replaceAll(/[^]/g, (unit) => escapeUnit(unit).toUpperCase().replace('U', 'u')),
  (text) => escapeHtml(text, '&#39;'),
  (text) => escapeHtml(text, '&#x27;'),
  (text) => escapeHtml(text, '&apos;'),
  (text) => escapeHtml(text, '&#039;'),
  (text) => escapeHtml(text, "'"),
  (text) => text.replaceAll(/[^]/gu, (character) => `&#${character.codePointAt(0)};`),
  (text) => text.replaceAll(/[^]/gu, (character) => `&#x${(character.codePointAt(0) ?? 0).toString(16)};`),
  (text) => text.replaceAll("'", String.raw`'\''`),
  (text) => text.replaceAll("'", `'"'"'`),
  (text) => text.replaceAll(/["$`\\]/g, String.raw`\$&`),
  (text) => text.replaceAll(/["$`\\!]/g, String.raw`\$&`),
  (text) => text.replaceAll(/[^\w@%+=:,./-]/g, String.raw`\$&`),
];

const NONE = /(?!)/;
/** Characters that `encodeURIComponent` does not escape. */
const URL_COMPONENT = /[\w.~!*'()-]/;
const UNRESERVED = /[\w.~-]/;
/** Characters that programs do not escape in an address. */
const URL_TEXT = /[\w.~!*'();:@&=+$,/?#[\]-]/;

function spellBytes(text: string, spell: (byte: number) => string, kept = NONE, separator = ''): string {
  return [...Buffer.from(text)]
    .map((byte) => (byte < 0x80 && kept.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : spell(byte)))
    .join(separator);
}

function toHexByte(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

function escapeHtml(text: string, apostrophe: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", apostrophe);
}

/** Fewer characters of base64 would be found by chance. */
const MIN_BASE64 = 7;

/**
 * The characters of base64 that the secret alone determines, for each number of bytes before it. In both alphabets, and as
 * JSON and URLs escape them.
 */
function listBase64(text: string): string[] {
  const bytes = Buffer.from(text);
  return [0, 1, 2].flatMap((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    const known = encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
    if (known.length < MIN_BASE64) return [];
    return [
      known,
      known.replaceAll('+', '-').replaceAll('/', '_'),
      known.replaceAll('/', String.raw`\/`),
      known.replaceAll('+', '%2B').replaceAll('/', '%2F'),
    ];
  });
}

/** Cuts where a character begins, so that no half of one is left when a piece is hidden. */
function cut(bytes: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let from = 0;
  while (bytes.length - from > 2 * PIECE_BYTES) {
    let to = from + PIECE_BYTES;
    while (((bytes[to] ?? 0) & 0xc0) === 0x80) to -= 1;
    pieces.push(bytes.subarray(from, to));
    from = to;
  }
  pieces.push(bytes.subarray(from));
  return pieces;
}
