/** The bill of materials: `npm run sbom [-- FILE]` prints or writes CycloneDX JSON of all that users get. */
import { writeFile } from 'node:fs/promises';
import { readPackages } from './licences/read-packages.js';
import { keepShipped } from './licences/shipped-bom.js';
import { PROJECT, run } from './run-tool.js';

const made = await run('npm', ['sbom', '--sbom-format', 'cyclonedx'], PROJECT);
if (made.exitCode !== 0) throw new Error(`npm sbom failed: ${made.stderr}`);
const packages = await readPackages(PROJECT);
const shipped = new Set(packages.filter(({ isShipped }) => isShipped).map(({ name, version }) => `${name}@${version}`));
const text = `${JSON.stringify(keepShipped(JSON.parse(made.stdout), shipped, 'sluice'), null, 2)}\n`;

const [file] = process.argv.slice(2);
if (file === undefined) process.stdout.write(text);
else await writeFile(file, text);
