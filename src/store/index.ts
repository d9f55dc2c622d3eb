export { backUpStore } from './back-up-store.js';
export type { Backup } from './back-up-store.js';
export { openStore } from './open-store.js';
export type { CacheLimits, StoreOptions } from './store-options.js';
export type { QueueWatch } from './queue-watch.js';
export type { Store } from './store.js';
export type { StoreFigures, Upkeep } from './upkeep.js';
export { STORE_ERROR_CODES, StoreError } from './store-error.js';
export type { StoreErrorCode } from './store-error.js';
