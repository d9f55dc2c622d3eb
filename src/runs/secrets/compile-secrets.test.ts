import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileBytePattern, createPatternMasker } from './mask-patterns.js';
import { compileSecrets, listSecretForms } from './compile-secrets.js';
import type { Secrets } from './compile-secrets.js';

/** Masks a string given in chunks. */
function maskChunks(secrets: Pick<Secrets, 'createMasker'>, pieces: readonly Uint8Array[]): Buffer {
  const masker = secrets.createMasker();
  return Buffer.concat([...pieces.map((piece) => masker.push(piece)), masker.end()]);
}

function splitAt(bytes: Uint8Array, positions: readonly number[]): Uint8Array[] {
  const sorted = positions.map((position) => position % (bytes.length + 1)).toSorted((a, b) => a - b);
  return [...sorted, bytes.length].map((to, index) => bytes.subarray(index === 0 ? 0 : sorted[index - 1], to));
}

const stars = (text: string): string => '*'.repeat(Buffer.byteLength(text));
const mask = (value: string, text: string): string => compileSecrets({ values: [value] }).maskText(text);

describe('a secret value', () => {
  it('is replaced with as many asterisks as it has bytes', () => {
    expect(mask('sk-12345', 'a sk-12345 b')).toBe('a ******** b');
    expect(mask('pässwörd', 'a pässwörd b')).toBe('a ********** b');
  });

  it('is found across any chunk boundary', () => {
    const secrets = compileSecrets({ values: ['sk-12345'] });
    const bytes = Buffer.from('x sk-12345 y sk-1234 sk-sk-12345');
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(maskChunks(secrets, splitAt(bytes, [at])).toString()).toBe('x ******** y sk-1234 sk-********');
    }
  });

  it('is held back only while it could still be a secret', () => {
    const masker = compileSecrets({ values: ['secret'] }).createMasker();
    const push = (text: string): string => Buffer.from(masker.push(Buffer.from(text))).toString();
    expect([push('a se'), push('cr'), push('ab'), push('secret'), push('s')]).toEqual([
      'a ',
      '',
      'secrab',
      '******',
      '',
    ]);
    expect(Buffer.from(masker.end()).toString()).toBe('s');
  });

  it.each([
    ['quotes and backslashes', String.raw`p"ss\word`],
    ['line ends', 'first line\nsecond\tline'],
    ['letters beyond ASCII', 'naïve-密码-🔑'],
    ['slashes', 'a/b/c/d/e'],
    ['special HTML characters', 'a<b>&c&d'],
  ])('with %s is found inside JSON, also encoded twice', (_what, value) => {
    const asciiOnly = (text: string): string =>
      text.replaceAll(/[^\0-\x7e]/g, (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
    const once = JSON.stringify({ said: value });
    const twice = JSON.stringify({ text: once });
    for (const text of [once, twice, asciiOnly(once), JSON.stringify({ text: asciiOnly(once) })]) {
      const masked = mask(value, text);
      expect(Buffer.byteLength(masked)).toBe(Buffer.byteLength(text));
      expect(masked.replaceAll(/\*+/g, '*')).toBe(
        text.startsWith('{"text"') ? JSON.stringify({ text: '{"said":"*"}' }) : '{"said":"*"}',
      );
    }
    expect(mask(value, once.replaceAll('/', String.raw`\/`))).toContain('{"said":"**');
    expect(
      mask(
        value,
        asciiOnly(once).replaceAll(/\\u....(?!\*)/g, (unit) => unit.toUpperCase().replace('U', 'u')),
      ),
    ).toMatch(/^\{"said":"\*+"\}$/);
  });

  it('of multiple lines is found line by line too, but its public header is not masked', () => {
    const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\nw0BAQEFAASCBKcwggSj\n-----END KEY-----';
    const indented = key.replaceAll('\n', '\r\n    ');
    expect(mask(key, indented)).toBe(
      `-----BEGIN KEY-----\r\n    ${stars('MIIEvQIBADANBgkqhkiG')}\r\n    ${stars('w0BAQEFAASCBKcwggSj')}\r\n    -----END KEY-----`,
    );
    expect(mask(key, `a${key}b`)).toBe(`a${stars(key)}b`);
  });

  it('of any length is found in full, with few bytes held back, and mostly if it is truncated', () => {
    const value = Array.from({ length: 20_000 }, (_value, index) =>
      String.fromCharCode(97 + ((index * 7919) % 25)),
    ).join('é');
    const text = `<${value}>`;
    expect(mask(value, text)).toBe(`<${stars(value)}>`);
    const masker = compileSecrets({ values: [value] }).createMasker();
    const pushed = masker.push(Buffer.from(text).subarray(0, 40_000));
    expect(40_000 - pushed.length).toBeLessThanOrEqual(2048);
  });

  it('is found even if it overlaps with itself or with another', () => {
    expect(mask('abcabc', 'xabcabcabcx')).toBe('x*********x');
    expect(compileSecrets({ values: ['abcdef', 'defghi', 'cdefgh'] }).maskText('-abcdefghi-')).toBe('-*********-');
    expect(compileSecrets({ values: ['secret', 'my-secret-key'] }).maskText('my-secret-ke')).toBe('my-******-ke');
  });

  it('is not masked if it is too short or too common to be a secret', () => {
    for (const value of ['', 'short', 'true', 'default', '8080', '1700000000', 'xxxxxxxx', '  abc  ']) {
      expect(mask(value, `${value} a ${value}`)).toBe(`${value} a ${value}`);
    }
  });

  it('is matched without surrounding white space', () => {
    expect(mask('  my-secret\n', 'x my-secret y')).toBe('x ********* y');
  });

  it('returns a chunk without a copy when there is nothing to mask', () => {
    const chunk = Buffer.from('nothing to see here');
    const out = compileSecrets({ values: ['sk-12345'] })
      .createMasker()
      .push(chunk);
    expect(out.buffer).toBe(chunk.buffer);
    expect(compileSecrets({ values: [] }).createMasker().push(chunk)).toBe(chunk);
  });

  it('does not change the chunk it was given', () => {
    const chunk = Buffer.from('a sk-12345 b');
    compileSecrets({ values: ['sk-12345'] })
      .createMasker()
      .push(chunk);
    expect(chunk.toString()).toBe('a sk-12345 b');
  });

  it('is rejected if all secrets together are too large', () => {
    const values = Array.from({ length: 20 }, (_value, index) => `${index}-${'abcdefg'.repeat(10_000)}`);
    expect(() => compileSecrets({ values })).toThrow(expect.objectContaining({ code: 'SECRETS_TOO_LARGE' }));
  });
});

/** Every occurrence of every form, one after the other. */
function maskNaively(bytes: Buffer, forms: readonly Uint8Array[]): Buffer {
  const maskedBytes = Buffer.from(bytes);
  for (const form of forms) {
    for (let at = bytes.indexOf(form); at !== -1; at = bytes.indexOf(form, at + 1))
      maskedBytes.fill('*', at, at + form.length);
  }
  return maskedBytes;
}

describe('for any text and any chunking', () => {
  const letters = fc.constantFrom('a', 'b', '"', '\\', '\n', 'é', '🔑');
  const secret = fc
    .string({ unit: letters, minLength: 6, maxLength: 12 })
    .filter((text) => Buffer.byteLength(text.trim()) >= 6);
  const piece = fc.oneof(fc.string({ unit: letters, maxLength: 10 }), secret);

  it('masking keeps the length, masks every secret and changes nothing else', () => {
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 4 }),
        fc.array(fc.oneof(piece, fc.nat({ max: 3 })), { maxLength: 12 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        (values, parts, positions) => {
          const text = parts.map((part) => (typeof part === 'number' ? (values[part] ?? '') : part)).join('');
          const bytes = Buffer.from(text);
          const secrets = compileSecrets({ values, patterns: [] });
          const whole = maskChunks(secrets, [bytes]);
          expect(maskChunks(secrets, splitAt(bytes, positions))).toEqual(whole);
          expect(whole).toHaveLength(bytes.length);
          expect(whole).toEqual(maskNaively(bytes, values.flatMap(listSecretForms)));
        },
      ),
    );
  });

  it('a pattern masks exactly what its matches cover', () => {
    // Trying JavaScript's matcher at every start and end is slow, but correct.
    const expressions = [
      'ab+',
      'a.b',
      '(?:ab|ba)c{1,2}',
      String.raw`\bab`,
      '^a',
      'b$',
      '[^a]c',
      'a(?:b|c)*c',
      String.raw`a\w+\b`,
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...expressions),
        fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' ', '\n'), maxLength: 20 }),
        fc.array(fc.nat(), { maxLength: 5 }),
        (source, text, positions) => {
          const covered = Array.from(text, () => false);
          for (let from = 0; from < text.length; from += 1) {
            for (let to = from + 1; to <= text.length; to += 1) {
              if (isWholeMatch(source, text, from, to)) covered.fill(true, from, to);
            }
          }
          const expected = Array.from(text, (letter, index) => (covered[index] === true ? '*' : letter)).join('');
          const bytes = Buffer.from(text);
          const secrets = { createMasker: () => createPatternMasker(compileBytePattern(source)) };
          expect(maskChunks(secrets, splitAt(bytes, positions)).toString()).toBe(expected);
        },
      ),
      { numRuns: 300 },
    );
  });
});

/** Whether the pattern matches exactly between two positions, taking the surrounding text into account. */
function isWholeMatch(source: string, text: string, from: number, to: number): boolean {
  const expression = new RegExp(`(?<=^(?<![^])[^]{${from}})(?:${source})(?=[^]{${text.length - to}}$(?![^]))`, 'm');
  return expression.test(text);
}

describe('a secret pattern', () => {
  const maskPattern = (pattern: string, text: string): string =>
    compileSecrets({ values: [], patterns: [pattern] }).maskText(text);

  it('masks secrets that were not known in advance', () => {
    expect(maskPattern(String.raw`ghp_\w{6,}`, 'token ghp_abcdef1 here')).toBe('token *********** here');
  });

  it('works together with values', () => {
    const secrets = compileSecrets({ values: ['hunter22'], patterns: ['sk-[a-z]+'] });
    expect(secrets.maskText('sk-abc hunter22 sk-')).toBe('****** ******** sk-');
  });

  it('does not treat non-ASCII letters as word characters', () => {
    expect(maskPattern('key=[^;]+', 'key=ключ;')).toBe(`${stars('key=ключ')};`);
  });

  it('holds back a bounded number of bytes', () => {
    const masker = compileSecrets({ values: [], patterns: ['xa+b'] }).createMasker();
    const out = masker.push(Buffer.from(`x${'a'.repeat(99_999)}`));
    expect(100_000 - out.length).toBeLessThanOrEqual(4096);
  });

  it('masks the whole match, whatever its length', () => {
    const text = `sk-${'x'.repeat(50_000)} end`;
    expect(maskPattern('sk-x+', text)).toBe(`${stars(text.slice(0, -4))} end`);
  });

  it.each([
    '.',
    '[^]+',
    String.raw`\w{6,}`,
    '"',
    String.raw`\n`,
    'passed|failed',
    '[0-9]+',
    '.*error.*',
    ' ',
    '^.{4,}$',
  ])('is rejected because it would mask ordinary text: %s', (pattern) => {
    expect(() => compileSecrets({ values: [], patterns: [pattern] })).toThrow(
      expect.objectContaining({
        code: 'INVALID_SECRET_PATTERN',
        message: expect.stringContaining('Make it more specific.'),
      }),
    );
  });

  it.each([
    String.raw`\S+@\S+\.\w+`,
    '[0-9a-f]{32}',
    '[A-Za-z0-9+/=_-]{20,}',
    String.raw`(?:password|token)[:=]\s*\S+`,
    String.raw`AKIA\w{16}`,
    String.raw`\d{3}-\d{4}`,
  ])('that is specific is accepted: %s', (pattern) => {
    expect(maskPattern(pattern, 'All 12 tests passed.')).toBe('All 12 tests passed.');
  });

  it.each([['(?=x)a'], [String.raw`(a)\1`], ['('], ['é+'], ['(?:a{1,30}){1,30}']])('is rejected: %s', (pattern) => {
    expect(() => compileSecrets({ values: [], patterns: [pattern] })).toThrow(
      expect.objectContaining({ code: 'INVALID_SECRET_PATTERN' }),
    );
  });
});
