import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeVisible } from './terminal-text.js';

describe('makeVisible', () => {
  it('escapes terminal sequences', () => {
    expect(makeVisible('\u001B[2J\u001B]0;title\u0007')).toBe('␛[2J␛]0;title␇');
  });

  it('shows characters that change the text direction', () => {
    expect(makeVisible('user\u202Egpj.exe')).toBe('user<U+202E>gpj.exe');
  });

  it('keeps line breaks, tabs and non-Latin scripts', () => {
    expect(makeVisible('eins\r\n\tzwei 三 😀')).toBe('eins\n\tzwei 三 😀');
  });

  it('never returns a control character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        // oxlint-disable-next-line no-control-regex -- the test searches for them
        expect(makeVisible(text)).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/);
      }),
    );
  });
});
