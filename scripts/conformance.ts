/**
 * Runs the public test cases of other projects: `npm run conformance -- DIR [--json]`. Every `*.json` of the folder is a
 * set of `{ id, input, expected | expectError, kind, schema? }`. A report, not a gate: exits with 0 if all sets could be
 * read, otherwise with 2. `docs/conformance.md` has the scores and the reason for each miss.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getErrorMessage } from '../src/base/sluice-error.js';
import { readCases } from './conformance/conformance-case.js';
import { renderScore } from './conformance/render-score.js';
import { runCases } from './conformance/run-cases.js';
import { exitWithUsageError, readArguments } from './read-arguments.js';

const USAGE = 'npm run conformance -- DIR [--json]';

const { values, positionals } = readArguments(
  { options: { json: { type: 'boolean' } }, allowPositionals: true },
  USAGE,
);
const [folder] = positionals;
if (folder === undefined) exitWithUsageError(`usage: ${USAGE}`);
await runFolder(folder, values.json === true);

async function runFolder(path: string, asJson: boolean): Promise<void> {
  const names = await readdir(path).catch((error: unknown) =>
    exitWithUsageError(`Cannot read the folder "${path}": ${getErrorMessage(error)}.`),
  );
  const files = names.filter((name) => name.endsWith('.json')).toSorted();
  if (files.length === 0) {
    console.error(`"${path}" contains no *.json files. Pass a folder with conformance sets.`);
    process.exitCode = 2;
  }
  for (const file of files) {
    try {
      const score = runCases(readCases(await readFile(join(path, file), 'utf8')));
      console.log(asJson ? JSON.stringify({ set: file, ...score }) : renderScore(file, score));
    } catch (error) {
      console.error(`${file}: ${getErrorMessage(error)}`);
      process.exitCode = 2;
    }
  }
}
