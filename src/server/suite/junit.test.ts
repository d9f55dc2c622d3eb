import { describe, expect, it } from 'vitest';
import { renderJunit } from './run-suite.js';

describe('renderJunit', () => {
  it('escapes agent output, and replaces characters that XML does not allow', () => {
    const changes = [{ part: 'reading', path: ['value'], expected: 'a', found: '<b>&"\u0000\u{D800}' }] as const;
    const xml = renderJunit([{ name: 'a', status: 'changed', ms: 1500, changes }]);
    expect(xml).toContain('<testcase classname="sluice-suite" name="a" time="1.500">');
    expect(xml).toContain('found &quot;&lt;b&gt;&amp;');
    expect(xml).not.toContain('\u0000');
    expect(xml).toMatch(/failures="1" errors="0"/);
  });
});
