import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The order of the projects. A worker is kept for the next file only if that is one of its project: mixed, nearly every
 * file would start a process and load everything again. The last one has the smallest files, so that all cores end
 * together.
 */
const PROJECT_ORDER = ['browser', 'product', 'postgres', 'source'];

/** Files that take long though they are small: the runner, which begins with the large ones, would end with these alone. */
export const SLOW_FILES = [
  'test/browser/every-page.test.ts',
  'test/broken-surroundings.test.ts',
  'test/guides.test.ts',
  'test/help-examples.test.ts',
  'test/test-command.test.ts',
  'src/store/postgres/postgres.test.ts',
  'src/store/sqlite/sqlite.test.ts',
  'src/json/hostile.test.ts',
];

/** The order of the runner, project by project and behind the files that are known to be slow. */
export class ByProject extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

/** Where a file comes: by its project, then by its place among the slow ones. Sorting leaves the rest as it was. */
function rank({ moduleId, project }: TestSpecification): number {
  const slow = SLOW_FILES.findIndex((file) => moduleId.endsWith(`/${file}`));
  const place = slow < 0 ? SLOW_FILES.length : slow;
  return PROJECT_ORDER.indexOf(project.name) * (SLOW_FILES.length + 1) + place;
}
