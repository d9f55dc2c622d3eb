import type { Archive } from '../archive/index.js';
import type { Lead, Wrappers } from '../orders/index.js';
import type { Logger } from '../base/index.js';
import type { Secrets } from '../runs/index.js';
import type { Store } from '../store/index.js';
import type { EndpointName } from '../api/index.js';
import type { ParseResult, RepairLevel } from '../json/index.js';
import type { ConsoleFiles } from './console/read-console.js';
import type { Guard } from './security/guard.js';
import type { ServerSettings } from './server-settings.js';

/** The context of all handlers. */
export interface ServerContext {
  readonly store: Store;
  readonly lead: Lead;
  /** The workers that orders may name. */
  readonly wrappers: Wrappers;
  /** The folder of run folders; absolute. */
  readonly data: string;
  /** Where the runs of other machines are read from, if there is one. */
  readonly archive: Archive | undefined;
  readonly settings: ServerSettings;
  /** Masks what must not be in reports and cases. */
  readonly secrets: Secrets;
  readonly guard: Guard;
  /** The console, where it is built. */
  readonly console: ConsoleFiles | undefined;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** ULIDs, for runs. */
  readonly newId: () => string;
  readonly newRequestId: () => string;
  readonly logger: Logger;
  readonly meter: ServerMeter;
  /** Throws `NOT_READY` or `SHUTTING_DOWN` while the server cannot work. */
  readonly checkReady: () => Promise<void>;
  /** Throws `SHUTTING_DOWN` once new work is refused. */
  readonly checkTakesWork: () => void;
  /** Aborted when the server shuts down: streams close, so that their readers reconnect elsewhere. */
  readonly ending: AbortSignal;
}

/** Receives everything the server does, for its metrics. */
export interface ServerMeter {
  parsed(text: ParsedText): void;
  answered(answer: AnsweredRequest): void;
  /** The metrics in Prometheus' text format. */
  render(): Promise<string>;
}

/** A text that was parsed, and how that went. */
export interface ParsedText {
  readonly status: ParseResult<unknown>['status'];
  readonly repairLevel: RepairLevel;
  /** `none` unless it failed. */
  readonly code: string;
}

/** An endpoint of the table, or the Model Context Protocol. */
export type RouteName = EndpointName | 'mcp';

/** A request that was answered. */
export interface AnsweredRequest {
  readonly endpoint: RouteName;
  readonly status: number;
  readonly ms: number;
  /** The trace it belongs to, from its `traceparent` header. */
  readonly traceparent?: string | undefined;
}
