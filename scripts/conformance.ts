/**
 * Peers' public test cases, run where they are: `npm run conformance -- DIR [--json]`. Every `*.json` of the folder is a
 * set of `{ id, input, expected | expectError, kind, schema? }`. A report, not a gate: ends with 0 when all sets could be
 * read, with 2 otherwise. `docs/conformance.md` has the scores and the reason of each miss.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { getErrorMessage } from '../src/base/error-message.js';
import { readCases } from './conformance/conformance-case.js';
import { renderScore } from './conformance/render-score.js';
import { runCases } from './conformance/run-cases.js';

const { values, positionals } = parseArgs({ options: { json: { type: 'boolean' } }, allowPositionals: true });
const [folder] = positionals;
if (folder === undefined) {
  console.error('usage: npm run conformance -- DIR [--json]');
  process.exitCode = 2;
} else {
  await runFolder(folder, values.json === true);
}

async function runFolder(path: string, asJson: boolean): Promise<void> {
  const files = (await readdir(path)).filter((name) => name.endsWith('.json')).toSorted();
  if (files.length === 0) {
    console.error(`"${path}" contains no *.json files. Give a folder with conformance sets.`);
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
