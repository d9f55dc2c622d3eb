import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take long though they are small: the runner, which begins with the large ones, would end with these alone. */
export const SLOW_FILES = ['src/store/sqlite/sqlite.test.ts', 'src/json/hostile.test.ts'];

/** The order of the runner, behind the files that are known to be slow. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}

function isSlow({ moduleId }: TestSpecification): boolean {
  return SLOW_FILES.some((file) => moduleId.endsWith(`/${file}`));
}
