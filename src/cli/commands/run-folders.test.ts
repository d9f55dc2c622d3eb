import { expect, it } from 'vitest';
import { collectWarnings } from './run-folders.js';

it('prints one line per warning, with control sequences escaped, and counts omitted warnings', () => {
  const warnings = collectWarnings();
  for (let count = 0; count < 22; count += 1) warnings.add({ code: 'LOG_LINE_DAMAGED', message: '\u001b[2J' });
  const lines = warnings.text().split('\n');
  expect(lines[0]).toBe('sluice: warning LOG_LINE_DAMAGED: ␛[2J');
  expect(lines.slice(20)).toEqual(['sluice: 2 more warnings omitted.', '']);
});
