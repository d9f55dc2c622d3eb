import type { Database, Session } from './driver.js';

/** One of the two stores of a migration. */
export interface MigrationSide {
  readonly database: Database;
  readonly now: () => number;
  /** Runs work in a transaction of any length, during which nothing else can write. */
  readonly freeze: <T>(work: (session: Session) => Promise<T>) => Promise<T>;
  /** Sets the schema version, and makes the database assign numbers after the copied rows. */
  readonly setVersion: (session: Session, version: number) => Promise<void>;
}
