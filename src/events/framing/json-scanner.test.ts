import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonScanner } from './json-scanner.js';

const containers = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()));

describe('a scanner', () => {
  it('finds the end of every object and array, wherever it is split', () => {
    fc.assert(
      fc.property(containers, fc.constantFrom(0, 2), fc.nat(), (value, indent, cut) => {
        const text = JSON.stringify(value, null, indent);
        expect(new JsonScanner().scan(`${text} tail`, 0)).toEqual({ kind: 'complete', end: text.length });
        const scanner = new JsonScanner();
        const at = cut % text.length;
        expect(scanner.scan(text.slice(0, at), 0)).toEqual({ kind: 'open' });
        expect(scanner.scan(text.slice(at), 0)).toEqual({ kind: 'complete', end: text.length - at });
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
