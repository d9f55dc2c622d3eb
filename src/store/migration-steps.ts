import { createHash } from 'node:crypto';
import { StoreError } from './store-error.js';

/** Returns the checksum of a migration step's SQL. */
function hashStep(step: string): string {
  return createHash('sha256').update(step).digest('hex');
}

/**
 * Compares a store's migration steps with this version's steps: versions of Sluice with different histories must not
 * use each other's tables. Returns the versions and checksums of steps that have no recorded checksum yet.
 */
export function compareSteps(
  steps: readonly string[],
  recorded: ReadonlyMap<number, string>,
  where: string,
): [version: number, sum: string][] {
  const missing: [number, string][] = [];
  for (const [index, step] of steps.entries()) {
    const [version, sum] = [index + 1, hashStep(step)];
    const known = recorded.get(version);
    if (known === undefined) missing.push([version, sum]);
    else if (known !== sum) {
      throw new StoreError(
        'STORE_DAMAGED',
        `Cannot open ${where}: its schema version ${version} was created by a different migration step than the one in this version of Sluice. Use the version of Sluice that created it, or restore a backup.`,
      );
    }
  }
  return missing;
}

/** Creates the error for a store that a newer version migrated while this process was using it. */
export function createMigratedError(where: string): StoreError {
  return new StoreError(
    'STORE_TOO_NEW',
    `Cannot write to ${where}: a newer version of Sluice has migrated it. Nothing was written; restart this process with that version.`,
  );
}

/** Creates the error for a store that another store is being copied into. */
export function createIncompleteError(where: string): StoreError {
  return new StoreError(
    'STORE_INCOMPLETE',
    `Cannot open ${where}: a migration into it is incomplete. Run "sluice migrate" again with the same source and target.`,
  );
}
