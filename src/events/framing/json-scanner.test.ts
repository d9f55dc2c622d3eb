import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonScanner } from './segment-line.js';

const containers = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()));

describe('a scanner', () => {
  it('finds the end of every object and array, on one line or on many', () => {
    fc.assert(
      fc.property(containers, (value) => {
        const text = JSON.stringify(value);
        expect(new JsonScanner().scan(`${text} tail`, 0)).toEqual({ kind: 'complete', end: text.length });
        const scanner = new JsonScanner();
        const lines = JSON.stringify(value, null, 2).split('\n');
        for (const line of lines.slice(0, -1)) {
          expect(scanner.scan(line, 0)).toEqual({ kind: 'open' });
          expect(scanner.scan('\n', 0)).toEqual({ kind: 'open' });
        }
        const last = lines.at(-1) ?? '';
        expect(scanner.scan(`${last} tail`, 0)).toEqual({ kind: 'complete', end: last.length });
      }),
    );
  });

  it('never accepts an incomplete value as complete', () => {
    fc.assert(
      fc.property(containers, fc.nat(), (value, cut) => {
        const text = JSON.stringify(value);
        expect(new JsonScanner().scan(text.slice(0, cut % text.length), 0).kind).toBe('open');
      }),
    );
  });

  it.each([
    '{]',
    '{,',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '[1 2]',
    '[,]',
    '{"a" "b"}',
    '{a:1}',
    '["\\x"]',
    '[+]',
    'true',
    '"a"',
  ])('detects immediately that %s is not JSON', (text) => {
    expect(new JsonScanner().scan(text, 0).kind).toBe('broken');
  });
});
