import { expect, test } from 'vitest';
import { chooseToolKind } from './acp.js';

test.each([
  ['Bash', 'execute'],
  ['command_execution', 'execute'],
  ['write_file', 'edit'],
  ['Grep', 'search'],
  ['WebSearch', 'fetch'],
  ['constructor', 'other'],
])('%s is of kind %s', (name, kind) => {
  expect(chooseToolKind(name)).toBe(kind);
});
