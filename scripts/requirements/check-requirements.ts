import type { Clause } from './clauses.js';

/** A test that the test runner found. */
export interface FoundTest {
  readonly file: string;
  /** Its titles, the outermost first, joined by ` > `. */
  readonly name: string;
  /** Whether it is run: neither skipped nor a to-do. */
  readonly isRun: boolean;
}

/** Lists all problems of a list of clauses, as messages; the tests of deviations, which have no number, are checked too. */
export function checkRequirements(
  clauses: readonly Pick<Clause, 'number' | 'tests'>[],
  foundTests: readonly FoundTest[],
  deviations: readonly Pick<Clause, 'number' | 'tests'>[] = [],
): string[] {
  return [
    ...(clauses.length === 0 ? ['no requirement was found'] : []),
    ...checkNumbers(clauses),
    ...[...clauses, ...deviations].flatMap(({ number, tests }) =>
      tests.flatMap(({ file, name }) => {
        const fileTests = foundTests.filter((candidate) => candidate.file === file);
        if (fileTests.length === 0) return [`${number}: ${file} is gone or has no tests`];
        const namedTests = fileTests.filter((test) => test.name === name || test.name.startsWith(`${name} > `));
        if (namedTests.length === 0) return [`${number}: ${file} has no test "${name}"`];
        return namedTests.some(({ isRun }) => !isRun) ? [`${number}: "${name}" in ${file} is not run`] : [];
      }),
    ),
  ];
}

/** Checks that each document's numbers start at 1 and have no gaps, so a lost row is noticed. */
function checkNumbers(clauses: readonly Pick<Clause, 'number'>[]): string[] {
  const last = new Map<string, number>();
  return clauses.flatMap(({ number }) => {
    const [document = '', row = ''] = number.split('.');
    const expected = (last.get(document) ?? 0) + 1;
    last.set(document, Number(row));
    return Number(row) === expected ? [] : [`${number}: should be ${document}.${expected}`];
  });
}
