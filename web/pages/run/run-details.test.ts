import { expect, test } from 'vitest';
import { describeDenial, describeRefusal } from './run-details.js';

const at = '2026-11-18T10:00:00.000Z';

test.each([
  [{ by: 'rule' }, 'by a rule'],
  [{ by: 'engine' }, 'by the agent itself'],
  [{ by: 'person', who: 'ada' }, 'by ada'],
  [{ by: 'person' }, 'by a person'],
] as const)('says who denied a tool, and when: %j', (decision, expected) => {
  const [code, message, detail] = describeDenial({ tool: 'Bash', why: 'too risky', at, ...decision });
  expect([code, message]).toEqual(['Bash', 'too risky']);
  expect(detail).toContain(expected);
  expect(detail).toMatch(/2026/u);
});

test('says who gave an answer that came too late', () => {
  const answer = { interaction_id: 'px_1_1', option_id: 'allow', at, who: 'ada', why: 'it is fine' };
  const [code, message, detail] = describeRefusal(answer);
  expect([code, message]).toEqual(['allow', 'it is fine']);
  expect(detail).toContain('ada');
});
