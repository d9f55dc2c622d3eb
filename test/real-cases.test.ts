import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  ACP_CASES,
  APPROVAL_CASES,
  ENGINE_CASES,
  FAULT_CASES,
  FIRST_RUN_CASES,
  PRESET_CASES,
} from './real/real-cases.js';

it('runs every file of real agents with `npm run real -- --all`', () => {
  const files = readdirSync(new URL('real', import.meta.url)).filter((name) => name.endsWith('.real.ts'));
  const cases = [...ENGINE_CASES, ...ACP_CASES, ...FAULT_CASES, ...APPROVAL_CASES, ...PRESET_CASES, ...FIRST_RUN_CASES];
  expect(cases.map((name) => `${name}.real.ts`).toSorted()).toEqual(files.toSorted());
});
