import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../run-tool.js';
import { bundleCommonJs, bundleModules } from './bundle.js';
import { copyDeclarations } from './room-files.js';

/** The small package's entries and their source files. */
const ENTRIES = {
  '.': 'json',
  './json-schema': 'json-schema',
  './tool-calls': 'tool-calls',
};
const ROOMS = ['base', 'json', 'json/schema', 'json/adapters'];
/** The manifest fields that the small package copies. */
interface Manifest {
  readonly version: string;
  readonly license: string;
  readonly keywords: readonly string[];
  readonly engines: object;
}

/**
 * `sluice-json`: the parser, `sluice/json-schema` and streamed tool calls, from the same sources, without any dependency.
 */
export async function buildSmallPackage(dist: string, folder: string): Promise<void> {
  const names = Object.values(ENTRIES);
  const files = names.map((name) => join(dist, 'entries', `${name}.js`));
  await bundleModules(dist, files, folder);
  await bundleCommonJs(dist, files, join(folder, 'cjs'));
  for (const to of [folder, join(folder, 'cjs')]) copyDeclarations(dist, ROOMS, names, to);
  const { version, license, keywords, engines } = JSON.parse(
    readFileSync(join(PROJECT, 'package.json'), 'utf8'),
  ) as Manifest;
  const manifest = {
    name: 'sluice-json',
    version,
    description: 'Extracts, repairs and validates JSON in the output of language models. No dependencies.',
    keywords,
    license,
    type: 'module',
    sideEffects: false,
    engines,
    exports: Object.fromEntries(
      Object.entries(ENTRIES).map(([entry, name]) => [
        entry,
        {
          import: { types: `./entries/${name}.d.ts`, default: `./entries/${name}.js` },
          require: { types: `./cjs/entries/${name}.d.ts`, default: `./cjs/entries/${name}.js` },
        },
      ]),
    ),
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  copyFileSync(join(PROJECT, 'LICENSE'), join(folder, 'LICENSE'));
  copyFileSync(join(PROJECT, 'scripts/build/small-package.md'), join(folder, 'README.md'));
}
