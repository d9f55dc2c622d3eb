/** A shorter value would be found by chance, and stars would hide what is no secret. */
const LEAST_BYTES = 6;
/** Longer ones are looked for in pieces: so little has to be held back, and a part of a key is hidden too. */
const PIECE_BYTES = 1024;
/** Lines of a key are looked for one by one, because programs indent them or end them in their own way. */
const LEAST_LINE_BYTES = 16;

/** Values that switches have; a number this short is more likely a port, a limit or a year. */
const NO_SECRET =
  /^(?:true|false|null|undefined|default|enabled|disabled|required|optional|always|bearer|\d{1,11}|(.)\1*)$/i;

/**
 * The byte sequences by which a secret may appear: as it is, and as text inside JSON, once or twice encoded. Empty for a
 * value that is too short or too common to be one.
 *
 * @example
 * listSecretForms('p"ssword') // the bytes of p"ssword, p\"ssword and p\\\"ssword
 */
export function listSecretForms(value: string): Uint8Array[] {
  const whole = value.trim();
  const lines = whole.split(/\r?\n/).filter((line) => isLongLine(line.trim()));
  const texts = whole.includes('\n') ? [whole, ...lines.map((line) => line.trim())] : [whole];
  const forms = new Set(texts.filter(isSecret).flatMap(encode));
  return [...forms].flatMap((form) => cut(Buffer.from(form)));
}

function isSecret(text: string): boolean {
  return Buffer.byteLength(text) >= LEAST_BYTES && !NO_SECRET.test(text);
}

/** The frame of a key (`-----BEGIN …`) is public. */
function isLongLine(line: string): boolean {
  return line.length >= LEAST_LINE_BYTES && !line.startsWith('-----');
}

function encode(text: string): string[] {
  const forms = [text];
  for (const once of ENCODERS) {
    const encoded = once(text);
    forms.push(encoded, ...ENCODERS.map((twice) => twice(encoded)));
  }
  return forms;
}

/** How programs write a text into JSON: some escape all but ASCII, some the slash, some what HTML minds. */
const ENCODERS: readonly ((text: string) => string)[] = [
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
