import { describe, expect, it } from 'vitest';
import type { RunResult } from '../../store/records/index.js';
import { renderSummary } from './render-report.js';

const RESULT: RunResult = {
  status: 'success',
  value: { line: 3 },
  repair_level: 'none',
  warnings: [],
  artifacts: { created: [], modified: [], deleted: [] },
  attempts: 1,
  session_id: null,
  usage: { scope: 'total', input_tokens: 10, output_tokens: 5, cost: 0.25 },
};
const render = (result: Partial<RunResult>, link?: string): string =>
  renderSummary({ id: '01RUN', engine: 'codex', durationMs: 1500, link, result: { ...RESULT, ...result } });

describe('renderSummary', () => {
  it('summarizes a success', () => {
    const text = render({}, 'https://sluice.example/runs/01RUN');
    expect(text).toContain('| Tokens | 10 in, 5 out |');
    expect(text).toContain('| Cost | $0.2500 |');
    expect(text).toContain('| Link | <https://sluice.example/runs/01RUN> |');
    expect(text).toContain('```json\n{\n  "line": 3\n}\n```');
  });

  it('notes that an engine reports no cost', () => {
    expect(render({ usage: { scope: 'total', input_tokens: 1, output_tokens: 1 } })).toContain('not reported');
  });

  it('shows malicious text only as code', () => {
    const malicious =
      '````\n# Heading\n![x](https://evil.example/pixel)\n<script>alert(1)</script> @everyone \u202E | a | b |';
    const text = render({
      value: undefined,
      text: malicious,
      model: malicious,
      status: 'failed',
      error: { category: 'output', code: 'NO_JSON', message: malicious },
      warnings: [{ code: 'X', message: malicious }],
    });
    expect(text).not.toContain('\u202E');
    // Code is removed first: no text may remain outside it.
    const outside = text.replaceAll(/^(`{3,})[^`]*\n[^]*?\n\1$/gm, '').replaceAll(/(`+)[^]*?[^`]\1(?!`)/g, '');
    expect(outside).not.toMatch(/Heading|evil|script|everyone/);
  });

  it('never splits a character where a text is cut', () => {
    const text = `${'x'.repeat(32 * 1024 - 1)}😀`;
    const message = `${'y'.repeat(999)}😀`;
    const warnings = [{ code: 'PARTIAL_VALUE', message }];
    const summary = render({ status: 'comment', value: undefined, text, warnings });
    expect(summary).toContain('x\n… (2 more characters)');
    expect(summary).not.toContain('U+D83D');
  });

  it('shows a link that is not a URL as text', () => {
    expect(render({}, 'javascript:alert(1)')).toContain('| Link | `javascript:alert(1)` |');
  });

  it('escapes a bar only in the table, where it would end a cell', () => {
    const text = render({ model: 'a|b', warnings: [{ code: 'X', message: 'c|d' }] });
    expect(text).toContain('| Model | `a\\|b` |');
    expect(text).toContain('- `X` `c|d`');
  });
});
