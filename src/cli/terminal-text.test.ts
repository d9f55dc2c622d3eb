import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { visibleText } from './terminal-text.js';

describe('visible text', () => {
  it('shows terminal escapes instead of obeying them', () => {
    expect(visibleText('\u001B[2J\u001B]0;title\u0007')).toBe('␛[2J␛]0;title␇');
  });

  it('shows what turns the direction of writing', () => {
    expect(visibleText('user\u202Egpj.exe')).toBe('user<U+202E>gpj.exe');
  });

  it('keeps line breaks, tabs and other languages', () => {
    expect(visibleText('eins\r\n\tzwei 三 😀')).toBe('eins\n\tzwei 三 😀');
  });

  it('never lets a control character through', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        // oxlint-disable-next-line no-control-regex -- they are what is looked for
        expect(visibleText(text)).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/);
      }),
    );
  });
});
