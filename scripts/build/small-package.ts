import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installTools } from '../install-tools.js';
import { PROJECT, run } from '../run-tool.js';
import { bundleModules, convertToCommonJs } from './bundle.js';

/** The small package's entries and their source files. */
const ENTRIES = {
  '.': 'json',
  './json-schema': 'json-schema',
  './tool-calls': 'tool-calls',
};
const KEYWORDS = [
  'llm',
  'json',
  'json-repair',
  'json-schema',
  'parser',
  'streaming',
  'structured-output',
  'standard-schema',
  'tool-calls',
  'zod',
];

/** The manifest fields that the small package copies. */
interface Manifest {
  readonly version: string;
  readonly license: string;
  readonly homepage: string;
  readonly bugs: object;
  readonly repository: object;
  readonly engines: object;
  readonly publishConfig: object;
}

/**
 * `sluice-json`: the parser, `sluice/json-schema` and streamed tool calls, from the same sources, without any
 * dependency. Each entry is one file as an ES module, one as CommonJS and one of types for each; code that entries share
 * is in separate files.
 */
export async function buildSmallPackage(dist: string, folder: string): Promise<void> {
  const names = Object.values(ENTRIES);
  const files = names.map((name) => join(dist, 'entries', `${name}.js`));
  // Names stay as they are, so stack traces can be read without source maps.
  await bundleModules(dist, files, folder, { minifyWhitespace: true });
  await convertToCommonJs(folder);
  const declarations = names.map((name) => join(dist, 'entries', `${name}.d.ts`));
  await rollUpTypes({ project: PROJECT, entries: declarations, target: join(folder, 'entries'), names });
  const { version, license, homepage, bugs, repository, engines, publishConfig } = JSON.parse(
    readFileSync(join(PROJECT, 'package.json'), 'utf8'),
  ) as Manifest;
  const manifest = {
    name: 'sluice-json',
    version,
    description: 'Extracts, repairs and validates JSON in the output of language models. No dependencies.',
    keywords: KEYWORDS,
    homepage,
    bugs,
    license,
    repository,
    type: 'module',
    sideEffects: false,
    engines,
    publishConfig,
    exports: Object.fromEntries(
      Object.entries(ENTRIES).map(([entry, name]) => [
        entry,
        {
          import: { types: `./entries/${name}.d.ts`, default: `./entries/${name}.js` },
          require: { types: `./entries/${name}.d.cts`, default: `./entries/${name}.cjs` },
        },
      ]),
    ),
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  copyFileSync(join(PROJECT, 'LICENSE'), join(folder, 'LICENSE'));
  copyFileSync(join(PROJECT, 'scripts/build/small-package.md'), join(folder, 'README.md'));
}

/** Rolls up the types of each entry into one file, with a compiler that the first build installs. */
async function rollUpTypes(job: {
  readonly project: string;
  readonly entries: readonly string[];
  readonly target: string;
  readonly names: readonly string[];
}): Promise<void> {
  const modules = await installTools('tools/types');
  const program = join(modules, '../roll-up-types.mjs');
  const { exitCode, stdout, stderr } = await run(process.execPath, [program, JSON.stringify(job)], PROJECT);
  if (exitCode !== 0) throw new Error(`Cannot roll up the types of sluice-json.\n${stdout}${stderr}`);
}
