/**
 * The licence gate: `npm run licences [-- --write]`. Fails if a package has a licence that is not on the list, or
 * if `THIRD-PARTY.md` is out of date; `--write` updates that page.
 */
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkLicences } from './licences/check-licences.js';
import type { LockedPackage } from './licences/read-lock.js';
import { readPackages } from './licences/read-packages.js';
import { renderNotices } from './licences/render-notices.js';
import { PROJECT } from './run-tool.js';

const PAGE = join(PROJECT, 'THIRD-PARTY.md');

const packages = await readPackages(PROJECT);
const shipped = packages.filter(({ isShipped }) => isShipped);
const page = renderNotices(
  await Promise.all(shipped.map(async (foundPage) => ({ ...foundPage, text: await readLicence(foundPage) }))),
);
const problems = checkLicences(packages);

if (process.argv.includes('--write')) await writeFile(PAGE, page);
else if (!existsSync(PAGE) || (await readFile(PAGE, 'utf8')) !== page) {
  problems.push('THIRD-PARTY.md is out of date. Run "npm run licences -- --write".');
}
for (const problem of problems) console.error(problem);
console.log(`licences: ${shipped.length} shipped packages, ${packages.length} in total, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;

async function readLicence({ path, name, licence }: LockedPackage): Promise<string> {
  const folder = join(PROJECT, path);
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
  return file === undefined
    ? `${name} does not include the text of its licence, ${licence}.`
    : readFile(join(folder, file), 'utf8');
}
