/** The bill of materials: `npm run sbom [-- FILE]` prints or writes CycloneDX JSON of all that users get. */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findBundledPackages } from './licences/bundled-packages.js';
import { readLock } from './licences/read-lock.js';
import { keepShipped } from './licences/shipped-bom.js';
import { PROJECT, run } from './run-tool.js';

const WEB = join(PROJECT, 'web');

const made = await run('npm', ['sbom', '--sbom-format', 'cyclonedx'], PROJECT);
if (made.exitCode !== 0) throw new Error(`npm sbom failed: ${made.stderr}`);
const bundled = existsSync(WEB) ? await findBundledPackages(WEB) : [];
const packages = readLock(await readFile(join(PROJECT, 'package-lock.json'), 'utf8'), bundled);
const shipped = new Set(packages.filter(({ isShipped }) => isShipped).map(({ name, version }) => `${name}@${version}`));
const text = `${JSON.stringify(keepShipped(JSON.parse(made.stdout), shipped, 'sluice'), null, 2)}\n`;

const [file] = process.argv.slice(2);
if (file === undefined) process.stdout.write(text);
else await writeFile(file, text);
