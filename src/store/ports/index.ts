export {
  type EventLog,
  type EventQuery,
  type EventRange,
  isOutage,
  readEventLog,
  readEventRange,
  type WatchableEventLog,
} from './run-store.js';
export type {
  DecidedOrder,
  Execution,
  ExecutionFilter,
  ItemResolution,
  Listed,
  OrderSettlement,
  OrderStore,
  OrderSubmission,
  Page,
  RaceConclusion,
  RaceEntry,
  ResolveOutcome,
  Rival,
  StoreClock,
} from './order-store.js';
export type { OutboxStore } from './order-store.js';
export {
  CACHE_LIMITS,
  type CachedFile,
  type CachedResult,
  type CacheLimits,
  formatCacheEntry,
  parseCacheEntry,
  type ResultCache,
} from './run-store.js';
export type { ClaimedRun, RunAdoption, RunClaim, RunFilter, RunHold, RunStore } from './run-store.js';
