import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ACP_CASES, ENGINE_CASES, FAULT_CASES } from './real/real-cases.js';

it('runs every file of real agents with `npm run real -- --all`', () => {
  const files = readdirSync(new URL('real', import.meta.url)).filter((name) => name.endsWith('.real.ts'));
  expect([...ENGINE_CASES, ...ACP_CASES, ...FAULT_CASES].map((name) => `${name}.real.ts`).toSorted()).toEqual(
    files.toSorted(),
  );
});
