import { describe, expect, it } from 'vitest';
import { renderTerminal } from '../scripts/pictures/render-terminal.js';

/** Reads the lines of a picture: the text of each line, and when it appears. */
function readLines(picture: string): (readonly [string, string])[] {
  const lines = picture.matchAll(/animation-delay:([\d.]+)s" xml:space="preserve">(.*)<\/text>/g);
  return [...lines].map(([, delay = '', text = '']) => [text, delay] as const);
}

describe('the picture of a terminal', () => {
  it('shows lines at the times they were printed, with shortened pauses', () => {
    const lines = [
      { text: '$ sluice doctor', at: 0 },
      { text: 'codex', at: 200 },
      { text: 'gemini', at: 60_200 },
    ];
    expect(readLines(renderTerminal('x', lines))).toEqual([
      ['$ sluice doctor', '0.00'],
      ['codex', '0.20'],
      ['gemini', '0.90'],
    ]);
  });

  it.each([
    ['"verdict": "confirmed"', 'good'],
    ['"verdict": "unchecked"', 'doubt'],
    ['"verdict": "contradicted"', 'doubt'],
  ])('marks %s as %s', (text, kind) => {
    expect(renderTerminal('x', [{ text, at: 0 }])).toContain(`class="${kind}"`);
  });

  it('shows command output as text', () => {
    const picture = renderTerminal('<b>', [{ text: '</text><script>alert(1)</script> & "', at: 0 }]);
    expect(picture).not.toContain('<script>');
    expect(picture).toContain('<title>&lt;b&gt;</title>');
    expect(readLines(picture)[0]?.[0]).toBe('&lt;/text&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;');
  });

  it('wraps long lines and truncates long sessions', () => {
    const lines = ['x'.repeat(150), 'b', 'c', 'd'].map((text) => ({ text, at: 0 }));
    expect(readLines(renderTerminal('x', lines, 4)).map(([text]) => text)).toEqual([
      'x'.repeat(100),
      'x'.repeat(50),
      'b',
      '…',
    ]);
  });
});
