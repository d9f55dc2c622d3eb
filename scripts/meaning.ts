/**
 * Measures how much of what the engines' records mean is in named fields of FCMP events: `npx tsx scripts/meaning.ts
 * [--missing] [DIR]`. It reads the recordings in `src/events/engines` or, if given, those in `DIR/<engine>/<scenario>`;
 * `--missing` lists the missing fields. `src/events/contract/meaning.contract.ts` states which values count.
 */
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readFixtures, translateFixture, type Fixture } from '../src/events/contract/engine-fixture.contract.js';
import { findMeaning, type MeaningLeaf } from '../src/events/contract/meaning.contract.js';
import { ENGINES } from '../src/events/engines/index.js';
import { PROJECT } from './run-tool.js';

const ENGINES_WITH_RECORDS = ['codex', 'claude', 'gemini', 'qwen', 'opencode', 'copilot', 'acp'] as const;
const showsMissing = process.argv.includes('--missing');
const dir = process.argv.slice(2).find((argument) => !argument.startsWith('--'));

function listFixtures(engine: string): readonly Fixture[] {
  const folder = dir === undefined ? join(PROJECT, 'src/events/engines', engine, 'fixtures') : resolve(dir);
  const fixtures = readFixtures(pathToFileURL(`${folder}/`));
  return dir === undefined ? fixtures : fixtures.filter(({ name }) => name.startsWith(`${engine}/`));
}

function report(name: string, leaves: readonly MeaningLeaf[]): void {
  const missing = leaves.filter(({ isNamed }) => !isNamed);
  const percent = leaves.length === 0 ? 0 : (100 * missing.length) / leaves.length;
  console.log(`${name.padEnd(10)}${percent.toFixed(1).padStart(6)} % missing, ${missing.length} of ${leaves.length}`);
  if (!showsMissing || name === 'total') return;
  const counts = new Map<string, number>();
  for (const { path } of missing) counts.set(path, (counts.get(path) ?? 0) + 1);
  for (const [path, count] of [...counts].toSorted(([, one], [, other]) => other - one))
    console.log(`  ${count} ${path}`);
}

const all = ENGINES_WITH_RECORDS.flatMap((engine) => {
  const leaves = listFixtures(engine).flatMap((fixture) =>
    findMeaning(fixture, ENGINES[engine], translateFixture(fixture, engine).emitted),
  );
  report(engine, leaves);
  return leaves;
});
report('total', all);
