/** The bill of materials: `npm run sbom [-- FILE]` prints or writes CycloneDX JSON of all shipped packages. */
import { writeFile } from 'node:fs/promises';
import { readPackages } from './licences/read-packages.js';
import { keepShipped } from './licences/shipped-bom.js';
import { PROJECT, run } from './run-tool.js';

const sbom = await run('npm', ['sbom', '--sbom-format', 'cyclonedx'], PROJECT);
if (sbom.exitCode !== 0) throw new Error(`npm sbom failed: ${sbom.stderr}`);
const packages = await readPackages(PROJECT);
const shipped = new Set(packages.filter(({ isShipped }) => isShipped).map(({ name, version }) => `${name}@${version}`));
const text = `${JSON.stringify(keepShipped(JSON.parse(sbom.stdout), shipped, 'sluice'), null, 2)}\n`;

const [file] = process.argv.slice(2);
if (file === undefined) process.stdout.write(text);
else await writeFile(file, text);
