export { backUpStore } from './back-up-store.js';
export type { Backup } from './sqlite/back-up-file.js';
export { migrateStore } from './migrate-store.js';
export type { MigrationOptions, MigrationProgress, MigrationReport } from './migrate-store.js';
export { openStore } from './open-store.js';
export type { StoreOptions } from './store.js';
export type { BudgetLimit, Budgets, BudgetUse } from './budgets.js';
export { describeBudget } from './budgets.js';
export type { JobLeases, JobLeaseRequest } from './job-leases.js';
export type { Fleet, WorkerReport } from './fleet.js';
export type { QueueNotifications } from './store.js';
export type { Store } from './store.js';
export type { Statistics } from './statistics.js';
export {
  chooseEarlier,
  type CauseCount,
  type InboxCounts,
  type InboxHistory,
  type InboxSlot,
} from './inbox-roll-up.js';
export {
  sumCounts,
  type ModelUsage,
  type RunCounts,
  type RunSlot,
  type StatisticsPeriod,
  type VersionDrift,
} from './roll-up.js';
export type { Retention, PurgedRecords, PurgedRuns } from './retention.js';
export type { OpenWorkCounts, Maintenance } from './maintenance.js';
export { STORE_ERROR_CODES, StoreError, type StoreErrorCode } from './store-error.js';
