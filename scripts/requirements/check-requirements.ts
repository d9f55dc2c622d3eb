import type { Requirement } from './read-requirements.js';

/** A test that the test runner found. */
export interface FoundTest {
  readonly file: string;
  /** Titles from the outside in, joined by ` > `. */
  readonly name: string;
  /** Is not skipped and not just planned. */
  readonly isRun: boolean;
}

/** Everything that is wrong with a list of requirements, as sentences. */
export function checkRequirements(requirements: readonly Requirement[], tests: readonly FoundTest[]): string[] {
  return [
    ...(requirements.length === 0 ? ['no requirement was found'] : []),
    ...checkNumbers(requirements),
    ...requirements.flatMap(({ number, file, test }) => {
      const inFile = tests.filter((found) => found.file === file);
      if (inFile.length === 0) return [`${number}: ${file} is gone or has no tests`];
      const named = inFile.filter(({ name }) => name === test || name.startsWith(`${test} > `));
      if (named.length === 0) return [`${number}: ${file} has no test "${test}"`];
      return named.some(({ isRun }) => !isRun) ? [`${number}: "${test}" of ${file} is not run`] : [];
    }),
  ];
}

/** In each document numbers go from 1 up without a gap, so that a row that was lost shows. */
function checkNumbers(requirements: readonly Requirement[]): string[] {
  const last = new Map<string, number>();
  return requirements.flatMap(({ number }) => {
    const [seed = '', count = ''] = number.split('.');
    const expected = (last.get(seed) ?? 0) + 1;
    last.set(seed, Number(count));
    return Number(count) === expected ? [] : [`${number}: should be ${seed}.${expected}`];
  });
}
