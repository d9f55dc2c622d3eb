/** The size gate: `npm run size`. What a browser loads for `sluice/json` stays small and free of Node.js. */
import { gzippedSize } from './package/gzipped-size.js';

const LIMIT = 15_000;

const size = await gzippedSize('src/json/index.ts');
console.log(`sluice/json: ${(size / 1000).toFixed(2)} kB minified and gzipped, limit ${LIMIT / 1000} kB`);
process.exitCode = size <= LIMIT ? 0 : 1;
