/**
 * The size gate: `npm run size`. What a browser loads for `sluice/json` stays small and free of Node.js. The aim is
 * 15 kB; the limit holds what has been reached, so that it can only shrink (docs/decisions/2026-11-15-size-of-json.md).
 */
import { gzippedSize } from './package/gzipped-size.js';

const AIM = 15_000;
const LIMIT = 17_900;

const size = await gzippedSize('src/entries/json.ts');
console.log(
  `sluice/json: ${(size / 1000).toFixed(2)} kB minified and gzipped, limit ${LIMIT / 1000} kB, aim ${AIM / 1000} kB`,
);
process.exitCode = size <= LIMIT ? 0 : 1;
