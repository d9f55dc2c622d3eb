/**
 * The requirements gate: `npm run requirements [-- PAGE]`. Fails if a test named in `docs/requirements.md`
 * does not exist or is not run.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { checkRequirements } from './requirements/check-requirements.js';
import { collectTests } from './requirements/collect-tests.js';
import { readRequirements } from './requirements/read-requirements.js';
import { PROJECT } from './run-tool.js';

const requirements = readRequirements(await readFile(resolve(process.argv[2] ?? 'docs/requirements.md'), 'utf8'));
const files = [...new Set(requirements.map(({ file }) => file))].filter((file) => existsSync(join(PROJECT, file)));
const problems = checkRequirements(requirements, files.length > 0 ? await collectTests(files) : []);

for (const problem of problems) console.error(problem);
console.log(`requirements: ${requirements.length} in ${files.length} test files, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
