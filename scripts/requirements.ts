/**
 * The requirements gate: `npm run requirements [-- DATA] [--write]`. Fails if a test named in `docs/requirements.json` does
 * not exist or is not run, if a mutation cannot be applied, or if `docs/requirements.md`, which is generated from it, is
 * out of date; `--write` updates the page. `-- --break [--short]` breaks each clause, or a tenth of them chosen by the
 * commit, in a copy of the sources, and fails if the tests named for it do not fail.
 */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readArguments } from './read-arguments.js';
import { breakClauses, chooseClauses, mutate } from './requirements/break-clauses.js';
import { checkRequirements } from './requirements/check-requirements.js';
import { listClauses, readRequirements, type Clause } from './requirements/clauses.js';
import { collectTests } from './requirements/collect-tests.js';
import { renderPage } from './requirements/render-page.js';
import { PROJECT, run } from './run-tool.js';

const { values, positionals } = readArguments(
  {
    options: {
      write: { type: 'boolean', default: false },
      break: { type: 'boolean', default: false },
      short: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  },
  'npm run requirements [-- DATA] [--write] | npm run requirements -- --break [--short]',
);
const data = resolve(PROJECT, positionals[0] ?? 'docs/requirements.json');
const requirements = await readRequirements(data);
const clauses = listClauses(requirements);
const problems = values.break ? await runMutations() : await checkPage();
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

async function checkPage(): Promise<readonly string[]> {
  const path = data.replace(/\.json$/, '.md');
  const page = renderPage(requirements);
  if (values.write) await writeFile(path, page);
  const isCurrent = (await readFile(path, 'utf8').catch(() => '')) === page;
  const deviations = requirements.documents.flatMap((document) =>
    document.deviations.map(({ tests }) => ({ number: `a deviation from ${document.title.slice(0, 3)}`, tests })),
  );
  const named = new Set([...clauses, ...deviations].flatMap(({ tests }) => tests.map(({ file }) => file)));
  const files = [...named].filter((file) => existsSync(join(PROJECT, file)));
  const found = [
    ...(isCurrent ? [] : [`${path} is out of date. Run "npm run requirements -- --write".`]),
    ...checkRequirements(clauses, files.length > 0 ? await collectTests(files) : [], deviations),
    ...(await checkMutations()),
  ];
  console.log(`requirements: ${clauses.length} in ${files.length} test files, ${found.length} problems`);
  return found;
}

/** Lists the mutations that the sources, which have changed since, no longer allow. */
async function checkMutations(): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { number, mutations } of clauses) {
    for (const mutation of mutations) {
      const text = await readFile(join(PROJECT, mutation.file), 'utf8').catch(() => '');
      if (mutate(text, mutation) === undefined)
        found.push(`${number}: "${mutation.search}" must occur exactly once in ${mutation.file}`);
    }
  }
  return found;
}

async function runMutations(): Promise<readonly string[]> {
  const chosen = values.short ? await chooseByCommit() : clauses;
  const { killed, problems: found } = await breakClauses(chosen);
  const total = `${chosen.length} of ${clauses.length} clauses`;
  console.log(`requirements: ${total} broken, ${killed} mutations killed, ${found.length} failed`);
  return found;
}

async function chooseByCommit(): Promise<readonly Clause[]> {
  const { stdout } = await run('git', ['rev-parse', 'HEAD'], PROJECT);
  return chooseClauses(clauses, stdout.trim());
}
