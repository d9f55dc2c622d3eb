import type { DatabaseClock } from './clock.js';
import type { Database } from './database.js';
import type { Notifications } from './notifications.js';

/** The context shared by the modules of a PostgreSQL store. */
export interface Context {
  readonly database: Database;
  readonly notifications: Notifications;
  readonly clock: DatabaseClock;
}
