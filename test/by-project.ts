import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The order of the projects. A worker process is reused only for files of the same project: in mixed order nearly every
 * file would start a process and load everything again. The last project has the smallest files, so all cores finish at
 * about the same time.
 */
const PROJECT_ORDER = [
  'browser',
  'console',
  'product',
  'smoke',
  'processes',
  'kubernetes',
  'campaigns-postgres',
  'campaigns',
  'postgres',
  'source',
];

/** Small but slow files, which the runner would otherwise run last because it starts with the largest. */
export const SLOW_FILES = [
  'test/browser/every-page.test.ts',
  'test/broken-surroundings.test.ts',
  'test/guides.test.ts',
  'test/help-examples.test.ts',
  'test/test-command.test.ts',
  'src/store/postgres/postgres.test.ts',
  'src/store/sqlite/sqlite.test.ts',
  'src/json/adversarial-inputs.campaign.test.ts',
];

/** Sorts like the runner, but by project and with slow files first. */
export class ByProject extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((first, other) => rank(first) - rank(other));
  }
}

/** Ranks a file by its project, then by its position among the slow files. Sorting is stable, so other files keep their order. */
function rank({ moduleId, project }: TestSpecification): number {
  const slow = SLOW_FILES.findIndex((file) => moduleId.endsWith(`/${file}`));
  const position = slow < 0 ? SLOW_FILES.length : slow;
  return PROJECT_ORDER.indexOf(project.name) * (SLOW_FILES.length + 1) + position;
}
