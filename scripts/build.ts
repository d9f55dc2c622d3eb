/**
 * The second step of `npm run build`, after tsc: bundles each browser-safe room in `dist` into a few files, as ES
 * modules and as CommonJS (`dist/cjs`), builds the small package in `dist/sluice-json`, and bundles hono and
 * the SDKs of `sluice acp` and `sluice mcp`, which most of an installation would not use. Rooms are imported only through their index (`npm run layering`), so their other files
 * can be removed. Reasons: docs/decisions/2026-11-16-bundled-rooms.md.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundleCommonJs, bundleModules, bundlePackages, bundleParser } from './build/bundle.js';
import {
  copyDeclarations,
  ENTRIES,
  BUNDLED_ROOMS,
  indentWithTabs,
  listEntryFiles,
  removeInnerModules,
} from './build/room-files.js';
import { buildSmallPackage } from './build/small-package.js';
import { PROJECT } from './run-tool.js';

const dist = join(PROJECT, 'dist');
const entryFiles = listEntryFiles(dist);
for (const folder of ['cjs', 'shared', 'sluice-json']) rmSync(join(dist, folder), { recursive: true, force: true });

await bundleParser(dist);
await buildSmallPackage(dist, join(dist, 'sluice-json'));
const entries = ENTRIES.map((entry) => join(dist, 'entries', `${entry}.js`));
await bundleCommonJs(dist, [...entryFiles, ...entries], join(dist, 'cjs'));
copyDeclarations(dist, BUNDLED_ROOMS, ENTRIES, join(dist, 'cjs'));
await bundleModules(dist, entryFiles, dist);
removeInnerModules(dist, entryFiles);
for (const file of ['acp/sdk.js', 'http/hono.js', 'mcp/sdk.js']) await bundlePackages(join(dist, 'server', file));
indentWithTabs(dist);
