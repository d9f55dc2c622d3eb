export { backUpStore, openStore } from './open-store.js';
export type { Backup } from './sqlite/back-up-file.js';
export { migrateStore, type MigrationOptions, type MigrationProgress, type MigrationReport } from './migrate-store.js';
export type { StoreOptions, Store } from './store.js';
export { type BudgetLimit, type Budgets, type BudgetUse, describeBudget } from './sql/budgets.js';
export type { JobLeases, JobLeaseRequest, Fleet, WorkerReport } from './sql/fleet.js';
export type { QueueNotifications } from './driver.js';
export type { Statistics } from './sql/statistics.js';
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
export type { Retention, PurgedRecords, PurgedRuns } from './sql/retention.js';
export type { OpenWorkCounts, Maintenance } from './sql/maintenance.js';
export { STORE_ERROR_CODES, StoreError, type StoreErrorCode } from './store-error.js';
