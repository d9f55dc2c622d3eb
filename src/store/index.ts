export { backUpStore } from './back-up-store.js';
export type { Backup } from './sqlite/back-up-file.js';
export { openStore } from './open-store.js';
export type { StoreOptions } from './store.js';
export type { QueueWatch } from './store.js';
export type { Store } from './store.js';
export type { FigureSpan, InboxFigure, RunFigure, Statistics } from './statistics.js';
export type { StoreFigures, Upkeep } from './upkeep.js';
export { STORE_ERROR_CODES, StoreError, type StoreErrorCode } from './store-error.js';
