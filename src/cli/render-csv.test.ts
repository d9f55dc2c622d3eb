import { describe, expect, it } from 'vitest';
import { renderCsv } from './render-csv.js';

describe('CSV', () => {
  it('quotes what would break a row', () => {
    expect(renderCsv([{ a: 'x,y', b: 'say "hi"\nnow' }], ['a', 'b'])).toBe('a,b\r\n"x,y","say ""hi""\nnow"\r\n');
  });

  it('leaves nothing as nothing, and writes lists as JSON', () => {
    expect(renderCsv([{ a: null, b: ['x'] }], ['a', 'b'])).toBe('a,b\r\n,"[""x""]"\r\n');
  });

  it('keeps a negative number a number', () => {
    expect(renderCsv([{ a: -1 }], ['a'])).toBe('a\r\n-1\r\n');
  });

  it.each(['=cmd()', '+1', '-1', '@x', '\tx'])('never gives a spreadsheet a formula: %s', (a) => {
    expect(renderCsv([{ a }], ['a'])).toBe(`a\r\n'${a}\r\n`);
  });
});
