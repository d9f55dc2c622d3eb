/**
 * The size gate: `npm run size`. What a browser loads for `sluice/json`, and for its `parse` alone, stays small and free of
 * Node.js (docs/decisions/2026-11-15-size-of-json.md).
 */
import { gzippedSize } from './package/gzipped-size.js';

const ENTRY = './src/entries/json.ts';
const LIMITS = [
  { what: 'sluice/json', names: undefined, limit: 23_600 },
  { what: 'parse of sluice/json alone', names: ['parse'], limit: 19_650 },
] as const;

for (const { what, names, limit } of LIMITS) {
  const size = await gzippedSize(ENTRY, names);
  console.log(`${what}: ${(size / 1000).toFixed(2)} kB minified and gzipped, limit ${limit / 1000} kB`);
  if (size > limit) process.exitCode = 1;
}
