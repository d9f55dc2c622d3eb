/**
 * The size gate: `npm run size`. What a browser loads for `sluice/json`, and for its `parse` alone, stays small and free of
 * Node.js (docs/decisions/2026-11-15-size-of-json.md).
 */
import { gzippedSize } from './package/gzipped-size.js';

const ENTRY = './src/entries/json.ts';
/** `aim`: what was asked for. `limit`: what is reached; the decision says why it is more. */
const LIMITS = [
  { what: 'sluice/json', names: undefined, aim: 20_000, limit: 24_800 },
  { what: 'parse of sluice/json alone', names: ['parse'], aim: 17_000, limit: 20_000 },
] as const;

for (const { what, names, aim, limit } of LIMITS) {
  const size = await gzippedSize(ENTRY, names);
  console.log(
    `${what}: ${(size / 1000).toFixed(2)} kB minified and gzipped, limit ${limit / 1000} kB, aim ${aim / 1000} kB`,
  );
  if (size > limit) process.exitCode = 1;
}
