/** One behaviour of a source document, and the test that proves it. */
export interface Requirement {
  /** Document and sentence, as in `002.14`. */
  readonly number: string;
  /** The clause, in our words. */
  readonly behaviour: string;
  /** The test file, relative to the project. */
  readonly file: string;
  /** The full name of a test, or of a group of tests: titles, the outermost first, joined by ` > `. */
  readonly test: string;
}

const ROW = /^\| (\d{3}\.\d+) \| ([^|]+) \| \[([^\]|]+)\]\(\.\.\/([^)|]+)\) \| `([^|]+)` \|$/;
const HEAD = /^\| (?:number|---) \|/;

/**
 * Reads the rows of the tables of `docs/requirements.md`. An incomplete row is an error: it would not be
 * checked.
 *
 * @example
 * readRequirements('| 000.1 | Be right. | [src/a.test.ts](../src/a.test.ts) | `a > is right` |')
 */
export function readRequirements(page: string): Requirement[] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('|') && !HEAD.test(line))
    .map((line) => {
      const [, number = '', behaviour = '', file = '', link = '', test = ''] = ROW.exec(line) ?? [];
      if (test === '' || file !== link) throw new Error(`docs/requirements.md: cannot read the row ${line}`);
      return { number, behaviour, file, test };
    });
}
