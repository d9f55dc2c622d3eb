import type { Requirement } from './read-requirements.js';

/** A test that the test runner found. */
export interface FoundTest {
  readonly file: string;
  /** Its titles, the outermost first, joined by ` > `. */
  readonly name: string;
  /** Whether it is run: neither skipped nor a to-do. */
  readonly isRun: boolean;
}

/** Lists all problems of a list of requirements, as messages. */
export function checkRequirements(requirements: readonly Requirement[], tests: readonly FoundTest[]): string[] {
  return [
    ...(requirements.length === 0 ? ['no requirement was found'] : []),
    ...checkNumbers(requirements),
    ...requirements.flatMap(({ number, file, test }) => {
      const fileTests = tests.filter((candidate) => candidate.file === file);
      if (fileTests.length === 0) return [`${number}: ${file} is gone or has no tests`];
      const namedTests = fileTests.filter(({ name }) => name === test || name.startsWith(`${test} > `));
      if (namedTests.length === 0) return [`${number}: ${file} has no test "${test}"`];
      return namedTests.some(({ isRun }) => !isRun) ? [`${number}: "${test}" in ${file} is not run`] : [];
    }),
  ];
}

/** Checks that each document's numbers start at 1 and have no gaps, so a lost row is noticed. */
function checkNumbers(requirements: readonly Requirement[]): string[] {
  const last = new Map<string, number>();
  return requirements.flatMap(({ number }) => {
    const [document = '', row = ''] = number.split('.');
    const expected = (last.get(document) ?? 0) + 1;
    last.set(document, Number(row));
    return Number(row) === expected ? [] : [`${number}: should be ${document}.${expected}`];
  });
}
