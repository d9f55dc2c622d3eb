import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PROJECT, run } from '../run-tool.js';
import type { Clause, Mutation } from './clauses.js';

/** Chooses a tenth of the clauses, others for each commit: in a few days every clause has been broken. */
export function chooseClauses(clauses: readonly Clause[], commit: string): readonly Clause[] {
  const rank = ({ number }: Clause): string => createHash('sha256').update(`${commit} ${number}`).digest('hex');
  return clauses
    .toSorted((first, other) => (rank(first) < rank(other) ? -1 : 1))
    .slice(0, Math.ceil(clauses.length / 10));
}

/** The number of copies of the sources that are broken at the same time. */
const CONCURRENCY = 2;

/** Breaks clauses, one mutation at a time; returns the mutations that were noticed, and what happened with the others. */
export async function breakClauses(
  clauses: readonly Clause[],
): Promise<{ readonly killed: number; readonly problems: readonly string[] }> {
  const queue = clauses.flatMap((clause) => clause.mutations.map((mutation) => ({ clause, mutation })));
  const total = queue.length;
  const problems: string[] = [];
  const work = async (): Promise<void> => {
    const sandbox = await openSandbox();
    try {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const outcome = await runMutation(sandbox, next.mutation, next.clause);
        if (outcome === 'killed') continue;
        const { file, search, replace } = next.mutation;
        const what = outcome === 'survived' ? `survived: "${search}" → "${replace}"` : outcome.problem;
        problems.push(`${next.clause.number} ${next.clause.behaviour} ${file}: ${what}`);
      }
    } finally {
      await sandbox.remove();
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return { killed: total - problems.length, problems };
}

/** A copy of the sources and tests where files can be broken. */
export interface Sandbox {
  readonly folder: string;
  readonly remove: () => Promise<void>;
}

/** The files that tests of the sources need. */
const NEEDED = ['examples', 'package.json', 'schemas', 'scripts', 'src', 'test', 'tsconfig.json', 'vitest.config.ts'];

/** Copies the sources, or other files, into a temporary folder that uses the packages of the project. */
export async function openSandbox(files?: Readonly<Record<string, string>>): Promise<Sandbox> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-mutation-'));
  if (files === undefined) {
    for (const name of NEEDED) await cp(join(PROJECT, name), join(folder, name), { recursive: true });
  }
  for (const [name, text] of Object.entries(files ?? {})) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  await symlink(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  return { folder, remove: async () => rm(folder, { recursive: true, force: true }) };
}

/** The outcome of a mutation: `killed` by the tests of its clause, `survived`, or a problem with the mutation itself. */
export type Outcome = 'killed' | 'survived' | { readonly problem: string };

/** Breaks a clause in the sandbox, runs the tests that it names, and restores it. */
export async function runMutation(
  { folder }: Sandbox,
  mutation: Mutation,
  { tests }: Pick<Clause, 'tests'>,
): Promise<Outcome> {
  const path = join(folder, mutation.file);
  const text = await readFile(path, 'utf8');
  const mutated = mutate(text, mutation);
  if (mutated === undefined) return { problem: `"${mutation.search}" must occur exactly once in ${mutation.file}` };
  await writeFile(path, mutated);
  try {
    return await judgeTests(folder, tests);
  } finally {
    await writeFile(path, text);
  }
}

/** Breaks the clause in the source; undefined unless the search string occurs exactly once. */
export function mutate(text: string, { search, replace }: Mutation): string | undefined {
  const parts = text.split(search);
  return parts.length === 2 ? parts.join(replace) : undefined;
}

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
    }[];
  }[];
}

async function judgeTests(folder: string, tests: Clause['tests']): Promise<Outcome> {
  const vitest = join(PROJECT, 'node_modules/vitest/vitest.mjs');
  // vitest joins titles by a space.
  const patterns = tests.map(({ name }) => name.split(' > ').map(escape).join('.*'));
  const report = join(folder, 'report.json');
  await rm(report, { force: true });
  const options = ['--reporter', 'json', '--outputFile', report, '--testNamePattern', `^(?:${patterns.join('|')})`];
  const files = [...new Set(tests.map(({ file }) => file))];
  const { stdout, stderr } = await run(process.execPath, [vitest, 'run', ...files, ...options], folder);
  const text = await readFile(report, 'utf8').catch(() => undefined);
  if (text === undefined) return { problem: `vitest wrote no report: ${stdout}${stderr}` };
  const { testResults } = JSON.parse(text) as Report;
  const named = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .map(({ ancestorTitles, title, status }) => ({ status, title: `${[...ancestorTitles, title].join(' > ')} > ` }))
    .filter(({ title }) => tests.some(({ name }) => title.startsWith(`${name} > `)))
    .map(({ status }) => status);
  // If the file no longer loads, the mutation proves nothing about the clause.
  if (!named.some((status) => status === 'passed' || status === 'failed')) return { problem: 'its tests were not run' };
  return named.includes('failed') ? 'killed' : 'survived';
}

function escape(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}
