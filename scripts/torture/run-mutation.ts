import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Requirement } from '../requirements/read-requirements.js';
import { PROJECT, run } from '../run-tool.js';

/** One clause of `docs/requirements.md`, broken on purpose. */
export interface Mutation {
  /** The behaviour of the row, word for word: the tests of that row must fail. */
  readonly clause: string;
  readonly file: string;
  /** Occurs in the file exactly once. */
  readonly search: string;
  readonly replace: string;
}

/** Lists mutations of one file: clause, search string, replacement. */
export function inFile(
  file: string,
  ...changes: readonly (readonly [clause: string, search: string, replace: string])[]
): readonly Mutation[] {
  return changes.map(([clause, search, replace]) => ({ clause, file, search, replace }));
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

/** The outcome of a mutation: `killed` by the tests of its row, `survived`, or a problem with the mutation itself. */
export type Outcome = 'killed' | 'survived' | { readonly problem: string };

/** Finds the row whose behaviour a mutation breaks; undefined unless exactly one row has the clause. */
export function findRow({ clause }: Mutation, requirements: readonly Requirement[]): Requirement | undefined {
  const rows = requirements.filter(({ behaviour }) => behaviour === clause);
  return rows.length === 1 ? rows[0] : undefined;
}

/** Breaks a clause in the sandbox, runs the tests that its row names, and restores it. */
export async function runMutation({ folder }: Sandbox, mutation: Mutation, row: Requirement): Promise<Outcome> {
  const path = join(folder, mutation.file);
  const text = await readFile(path, 'utf8');
  const mutated = mutate(text, mutation);
  if (mutated === undefined) return { problem: `"${mutation.search}" must occur exactly once in ${mutation.file}` };
  await writeFile(path, mutated);
  try {
    return await judgeTests(folder, row);
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

async function judgeTests(folder: string, { file, test }: Requirement): Promise<Outcome> {
  const vitest = join(PROJECT, 'node_modules/vitest/vitest.mjs');
  // vitest joins titles by a space.
  const pattern = `^${test.split(' > ').map(escape).join('.*')}`;
  const report = join(folder, 'report.json');
  await rm(report, { force: true });
  const options = ['--reporter', 'json', '--outputFile', report, '--testNamePattern', pattern];
  const { stdout, stderr } = await run(process.execPath, [vitest, 'run', file, ...options], folder);
  const text = await readFile(report, 'utf8').catch(() => undefined);
  if (text === undefined) return { problem: `vitest wrote no report: ${stdout}${stderr}` };
  const { testResults } = JSON.parse(text) as Report;
  const named = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ ancestorTitles, title }) => `${[...ancestorTitles, title].join(' > ')} > `.startsWith(`${test} > `))
    .map(({ status }) => status);
  // If the file no longer loads, the mutation proves nothing about the clause.
  if (!named.some((status) => status === 'passed' || status === 'failed')) return { problem: 'its tests were not run' };
  return named.includes('failed') ? 'killed' : 'survived';
}

function escape(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}
