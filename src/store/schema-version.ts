import { StoreError } from './store-error.js';

/** The schema version of a store that is being copied into: far above every real one, so nothing opens it. */
export const TRANSFER_SCHEMA_VERSION = 1_000_000;

/** Creates the error for a store that a newer version migrated while this process was using it. */
export function createMigratedError(where: string): StoreError {
  return new StoreError(
    'STORE_TOO_NEW',
    `Cannot write to ${where}: a newer version of Sluice has migrated it. Nothing was written; restart this process with that version.`,
  );
}

/** Creates the error for a store with a schema version that this version of Sluice does not know. */
export function createTooNewError(where: string, version: number, supported: number): StoreError {
  return new StoreError(
    'STORE_TOO_NEW',
    `Cannot open ${where}: it has schema version ${version}, and this version of Sluice supports up to ${supported}. Use the newer version of Sluice that wrote it.`,
  );
}

/** Creates the error for a store of a version before the first release. */
export function createOutdatedError(where: string): StoreError {
  return new StoreError(
    'STORE_TOO_OLD',
    `Cannot open ${where}: a version of Sluice before the first release created it. Export what matters with that version ("sluice executions --csv", "sluice export RUN"), then use an empty database.`,
  );
}

/** Creates the error for a store that another store is being copied into. */
export function createIncompleteError(where: string): StoreError {
  return new StoreError(
    'STORE_INCOMPLETE',
    `Cannot open ${where}: a migration into it is incomplete. Run "sluice migrate" again with the same source and target.`,
  );
}
