import type { DatabaseClock } from './clock.js';
import type { Database } from './database.js';
import type { Notifications } from './notifications.js';

/** What the parts of a store on PostgreSQL share. */
export interface Context {
  readonly database: Database;
  readonly notifications: Notifications;
  readonly clock: DatabaseClock;
}
