import { expect, test } from 'vitest';
import { isAgentFile } from './item.js';

test.each([
  'work_order.json',
  'work_result.json',
  'work_result.txt',
  'stdout.1.log',
  'stderr.12.log',
  'pty-output.1.log',
])('%s is an agent file', (name) => {
  expect(isAgentFile(name)).toBe(true);
});

test.each(['meta.1.json', 'timing.1.jsonl', 'events.jsonl', 'stdin.1.log', 'fs-diff.1.json'])(
  '%s is a Sluice file',
  (name) => {
    expect(isAgentFile(name)).toBe(false);
  },
);
