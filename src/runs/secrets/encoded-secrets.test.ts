import { describe, expect, it } from 'vitest';
import { measureProcessor } from '../../../test/processor-time.js';
import { compileSecrets } from './compile-secrets.js';

const SECRET = `pk-live/9f3+"$X'<7>&é long enough`;
const bytes = Buffer.from(SECRET);
const hex = bytes.toString('hex');
const percent = (text: string): string => [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join('');
const fold = (text: string, width: number, end = '\n'): string =>
  (text.match(new RegExp(`[^]{1,${width}}`, 'g')) ?? []).join(end);

/** Masks every character that depends only on the secret. */
function mask(text: string): string {
  const masked = compileSecrets({ values: [SECRET] }).maskText(text);
  expect(Buffer.byteLength(masked)).toBe(Buffer.byteLength(text));
  return masked;
}

describe('a secret encoded by an agent', () => {
  it.each([
    ['in base64', bytes.toString('base64')],
    ['in base64 after one byte', Buffer.from(`x${SECRET}`).toString('base64')],
    ['in base64 after two bytes', Buffer.from(`xy${SECRET}`).toString('base64')],
    ['in the credentials of a request', Buffer.from(`user:${SECRET}`).toString('base64')],
    ['in base64 for URLs', bytes.toString('base64url')],
    ['in base64 inside a URL', encodeURIComponent(bytes.toString('base64'))],
    ['in base64 inside JSON from PHP', JSON.stringify(bytes.toString('base64')).replaceAll('/', String.raw`\/`)],
    ['in hex', hex],
    ['in uppercase hex', hex.toUpperCase()],
    ['in hex with spaces', fold(hex, 2, ' ')],
    ['in hex with colons', fold(hex, 2, ':')],
    ['in uppercase hex with colons', fold(hex, 2, ':').toUpperCase()],
    ['in hex with hyphens', fold(hex, 2, '-')],
    ['in uppercase hex with hyphens', fold(hex, 2, '-').toUpperCase()],
    ['as a buffer in JSON', JSON.stringify([...bytes])],
    ['as a list of bytes', [...bytes].join(', ')],
    ['in a hex dump with groups of two bytes', fold(hex, 4, ' ')],
    ['in a hex dump, starting within a group', `${hex.slice(0, 2)} ${fold(hex.slice(2), 4, ' ')}`],
    ['in an uppercase hex dump with groups of four bytes', fold(hex, 8, ' ').toUpperCase()],
    ['in C escape sequences', String.raw`\x` + fold(hex, 2, String.raw`\x`)],
    ['in a URL parameter', encodeURIComponent(SECRET)],
    ['in a complete URL', encodeURI(SECRET)],
    ['in a form', new URLSearchParams({ '': SECRET }).toString().slice(1)],
    ['in a URL, every byte', percent(SECRET)],
    [
      'in HTML',
      SECRET.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
    ],
    ['in HTML, every character', SECRET.replaceAll(/[^]/gu, (character) => `&#${character.codePointAt(0)};`)],
    ['in JSON', JSON.stringify(SECRET).slice(1, -1)],
    [
      'in JSON, every character',
      SECRET.replaceAll(/[^]/g, (c) => String.raw`\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
    ],
    ['in shell single quotes', SECRET.replaceAll("'", String.raw`'\''`)],
    ['in shell double quotes', SECRET.replaceAll(/["$`\\]/g, String.raw`\$&`)],
    ['in lines', fold(SECRET, 10)],
    ['in base64 with short lines', fold(bytes.toString('base64'), 20)],
    ['in indented lines', fold(SECRET, 12, '\n    ')],
    ['in lines with carriage returns', fold(SECRET, 12, '\r\n')],
    ['in lines inside JSON', JSON.stringify(fold(bytes.toString('base64'), 16)).slice(1, -1)],
    [
      'in lines inside JSON inside JSON',
      JSON.stringify(JSON.stringify(fold(bytes.toString('base64'), 16))).slice(1, -1),
    ],
  ])('%s is masked', (_, text) => {
    const letters = mask(`begin ${text} end`)
      .replace('begin ', '')
      .replace(' end', '')
      .replaceAll(/\\+[nr]|[\s*\\"]/g, '');
    // The ends of base64 share bits with the text next to the secret.
    expect(letters.length).toBeLessThanOrEqual(8);
  });

  const around = Buffer.concat([Buffer.from('{"key":"'), bytes, Buffer.from('"}\n')]);
  const hexRows = (width: number): string[] => fold(around.toString('hex'), 2 * width).split('\n');
  const group = (row: string, size: number): string => fold(row, 2 * size, ' ');
  const column = (index: number): string =>
    around.toString('latin1', 16 * index, 16 * index + 16).replaceAll(/[^ -~]/g, '.');
  const offset = (index: number, digits: number, radix = 16): string =>
    (16 * index).toString(radix).padStart(digits, '0');
  const swap = (row: string): string => row.replaceAll(/(..)(..)/g, '$2$1');
  const dumps: readonly (readonly [string, readonly string[]])[] = [
    ['xxd', hexRows(16).map((row, index) => `${offset(index, 8)}: ${group(row, 2).padEnd(39)}  ${column(index)}`)],
    [
      'xxd -g1 -u',
      hexRows(16).map(
        (row, index) => `${offset(index, 8)}: ${group(row, 1).toUpperCase().padEnd(47)}  ${column(index)}`,
      ),
    ],
    [
      'hexdump -C',
      hexRows(16).map((row, index) => {
        const halves = `${group(row.slice(0, 16), 1)}  ${group(row.slice(16), 1)}`;
        return `${offset(index, 8)}  ${halves.padEnd(48)}  |${column(index)}|`;
      }),
    ],
    ['hexdump', hexRows(16).map((row, index) => `${offset(index, 7)} ${group(swap(row), 2)}`)],
    ['od -t x1', hexRows(16).map((row, index) => `${offset(index, 7, 8)} ${group(row, 1)}`)],
    ['od -An -t x1', hexRows(16).map((row) => ` ${group(row, 1)}`)],
    [
      'xxd -e',
      hexRows(16).map((row, index) => {
        const numbers = fold(row, 8).split('\n');
        const words = numbers.map((word) => (word.match(/../g) ?? []).toReversed().join('').padStart(8));
        return `${offset(index, 8)}: ${words.join(' ').padEnd(35)}  ${column(index)}`;
      }),
    ],
    ['xxd -p -c 10', hexRows(10)],
    ['xxd -i', hexRows(12).map((row) => `  ${(row.match(/../g) ?? []).map((byte) => `0x${byte}`).join(', ')},`)],
    ['openssl', hexRows(15).map((row) => `    ${fold(row, 2, ':')}:`)],
  ];
  const encodings: readonly (readonly [string, (dump: string) => string])[] = [
    ['a terminal', (dump) => `begin\n${dump}\nend\n`],
    ['JSON', (dump) => `${JSON.stringify({ output: dump, is_error: false })}\n`],
    ['JSON inside JSON', (dump) => `${JSON.stringify({ a: JSON.stringify({ b: dump, c: 1 }) })}\n`],
  ];
  describe.each(encodings)('in a hex dump in %s', (_, encode) => {
    it.each(dumps)('from %s is masked in all rows, wherever the chunks are split', (_name, rows) => {
      const dump = Buffer.from(encode(rows.join('\n')));
      const secrets = compileSecrets({ values: [SECRET] });
      const whole = Buffer.from(secrets.mask(dump)).toString();
      const plain = dump.toString();
      expect(whole).toHaveLength(plain.length);
      const parseAll = (): unknown => whole.startsWith('{') && JSON.parse(whole);
      expect(parseAll).not.toThrow();
      const secretHex = hex.match(/../g) ?? [];
      // Of the 45 bytes shown, only the twelve around the secret remain.
      const digits = [...plain].filter((letter, at) => /[0-9a-f]/i.test(letter) && whole[at] === '*').length;
      expect(digits).toBeGreaterThanOrEqual(2 * secretHex.length);
      expect(whole).not.toContain('live');
      expect(whole).not.toContain('enough');
      for (let at = 0; at <= dump.length; at += 1) {
        const masker = secrets.createMasker();
        const parts = [masker.push(dump.subarray(0, at)), masker.push(dump.subarray(at)), masker.end()];
        expect(Buffer.concat(parts).toString()).toBe(whole);
      }
    });
  });

  it('is masked in a dump of numbers of which the last has fewer bytes', () => {
    const secrets = compileSecrets({ values: ['sk-live-9f3A7xQz0PlmRt5WvBn2KdYh8'] });
    const dump = `00000000: 3d59454b 6c2d6b73 2d657669 41336639  KEY=sk-live-9f3A
00000010: 7a517837 6d6c5030 57357452 326e4276  7xQz0PlmRt5WvBn2
00000020: 6859644b     0a38                    KdYh8.
`;
    const masked = secrets.maskText(dump);
    expect(masked).toHaveLength(dump.length);
    expect(masked.slice(0, 30)).toBe('00000000: 3d59454b ******** **');
    expect(masked.length - masked.replaceAll('*', '').length).toBeGreaterThan(66);
    expect(masked).not.toMatch(/live|Plm|KdY/);
  });

  it('keeps its line ends', () => {
    const masked = mask(`{"a":"${fold(bytes.toString('base64'), 16)}"}\n`);
    expect(masked.split('\n')).toHaveLength(fold(bytes.toString('base64'), 16).split('\n').length + 1);
  });

  it('holds back no line whose last letters could start a secret', () => {
    const masker = compileSecrets({ values: [SECRET] }).createMasker();
    expect(Buffer.from(masker.push(Buffer.from('Shall I use pk\n'))).toString()).toBe('Shall I use pk\n');
  });

  it('is masked wherever the chunks are split', () => {
    const text = Buffer.from(`a\n${fold(SECRET, 9)}\nb`);
    const whole = mask(text.toString());
    for (let at = 0; at <= text.length; at += 1) {
      const masker = compileSecrets({ values: [SECRET] }).createMasker();
      const parts = [masker.push(text.subarray(0, at)), masker.push(text.subarray(at)), masker.end()];
      const masked = Buffer.concat(parts);
      expect(masked.length).toBe(text.length);
      // If a word was cut within its first bytes, these might already have been released.
      const differing = [...masked].filter((byte, index) => byte !== Buffer.from(whole)[index]).length;
      expect(differing).toBeLessThan(8);
    }
  });

  it('takes time proportional to the output', () => {
    const secrets = compileSecrets({ values: ['ab'.repeat(500)] });
    const wrappedLines = Buffer.from('ab\n'.repeat(300_000));
    expect(measureProcessor(() => void secrets.mask(wrappedLines))).toBeLessThan(10_000);
  });
});
