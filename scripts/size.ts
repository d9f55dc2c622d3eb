/**
 * The size gate: `npm run size`, after `npm run build`. Measures each entry of the package: the bytes of its code,
 * minified and gzipped, and its import time as a multiple of starting Node.js; and the disk space of `npm install`.
 * Browser entries must not depend on Node.js.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { measureGzippedSize } from './package/gzipped-size.js';
import { measureDependencies, measureImports, measureUnpacked } from './package/measure-package.js';
import { ENTRY_LIMITS, INSTALL_LIMITS } from './package/size-limits.js';
import { PROJECT } from './run-tool.js';

const dist = join(PROJECT, 'dist');
if (!existsSync(join(dist, 'sluice-json'))) {
  console.error('No build to measure. Run "npm run build" first.');
  process.exit(1);
}

function report(line: string, isWithin: boolean): void {
  console.log(`${line}${isWithin ? '' : '   over the limit'}`);
  if (!isWithin) process.exitCode = 1;
}

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(2)} kB`;
const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(2)} MB`;

for (const { entry, names, bytes, goal, isForPages = false } of ENTRY_LIMITS) {
  const size = await measureGzippedSize(`./src/entries/${entry}.ts`, { names, isForPages });
  const what = `${names === undefined ? '' : `${names.join(', ')} of `}sluice/${entry}${names === undefined ? '' : ' alone'}`;
  const goalText = goal === undefined ? '' : `, goal ${goal / 1000} kB`;
  report(`${what}: ${kilobytes(size)} minified and gzipped, limit ${bytes / 1000} kB${goalText}`, size <= bytes);
}

const entries = ENTRY_LIMITS.filter(({ names }) => names === undefined);
const imports = await measureImports(entries.map(({ entry }) => join(dist, 'entries', `${entry}.js`)));
for (const [index, { entry, import: limit }] of entries.entries()) {
  const ratio = imports[index] ?? Infinity;
  report(`import of sluice/${entry}: ${ratio.toFixed(2)} × starting Node.js, limit ${limit}`, ratio <= limit);
}

const dependencies = { sluice: measureDependencies(PROJECT), 'sluice-json': 0 };
const folders = { sluice: PROJECT, 'sluice-json': join(dist, 'sluice-json') };
for (const name of ['sluice', 'sluice-json'] as const) {
  const limit = INSTALL_LIMITS[name];
  const { bytes, files } = await measureUnpacked(folders[name]);
  const total = bytes + dependencies[name];
  const limits = `limit ${megabytes(limit.bytes)}${Number.isFinite(limit.files) ? ` and ${limit.files} files` : ''}`;
  report(
    `npm install ${name}: ${megabytes(total)} on the disk, ${files} files, ${limits}`,
    total <= limit.bytes && files <= limit.files,
  );
}
