export {
  type EventLog,
  type EventQuery,
  type EventRange,
  isOutage,
  readEventLog,
  readEventRange,
  type WatchableEventLog,
} from './event-log.js';
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
export type { OutboxStore } from './outbox-store.js';
export {
  CACHE_LIMITS,
  type CachedFile,
  type CachedResult,
  type CacheLimits,
  formatCacheEntry,
  parseCacheEntry,
  type ResultCache,
} from './result-cache.js';
export type { ClaimedRun, RunClaim, RunFilter, RunHold, RunStore } from './run-store.js';
