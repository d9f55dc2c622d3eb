import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { RULE_COSTS } from './rules.js';

test('the README lists every rule with its cost', () => {
  const page = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+)` \| (\d+) \|/gm)].map(([, rule, cost]) => [rule, Number(cost)]);
  expect(Object.fromEntries(rows)).toEqual(RULE_COSTS);
});
