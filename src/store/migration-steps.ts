import { createHash } from 'node:crypto';
import { StoreError } from './store-error.js';

/** Identifies the text of a migration step. */
function sumStep(step: string): string {
  return createHash('sha256').update(step).digest('hex');
}

/**
 * Compares the steps that have made a store with those of this version: two versions that grew apart must not take each
 * other's tables for their own. Returns the steps that were made before sums were recorded, as version and sum.
 */
export function compareSteps(
  steps: readonly string[],
  recorded: ReadonlyMap<number, string>,
  where: string,
): [version: number, sum: string][] {
  const missing: [number, string][] = [];
  for (const [index, step] of steps.entries()) {
    const [version, sum] = [index + 1, sumStep(step)];
    const known = recorded.get(version);
    if (known === undefined) missing.push([version, sum]);
    else if (known !== sum) {
      throw new StoreError(
        'STORE_DAMAGED',
        `Cannot open ${where}: its schema version ${version} was made by a different step than the one of this version of Sluice. Use the version of Sluice that made it, or restore a backup.`,
      );
    }
  }
  return missing;
}

/** A newer version has migrated the store while this process was using it. */
export function migratedMeanwhile(where: string): StoreError {
  return new StoreError(
    'STORE_TOO_NEW',
    `Cannot write to ${where}: a newer version of Sluice has migrated it. Nothing was written; restart this process with that version.`,
  );
}

/** Another store is being copied into this one. */
export function storeIncomplete(where: string): StoreError {
  return new StoreError(
    'STORE_INCOMPLETE',
    `Cannot open ${where}: a migration into it is not complete. Run "sluice migrate" again with the same source and target.`,
  );
}
