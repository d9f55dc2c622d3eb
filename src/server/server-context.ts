import type { Archive } from '../runs/archive/index.js';
import type { Lead, Wrappers } from '../orders/index.js';
import type { Logger } from '../base/index.js';
import type { Secrets } from '../runs/index.js';
import type { Store } from '../store/index.js';
import type { ApprovalRule } from '../store/records/index.js';
import type { EndpointName } from './api/index.js';
import type { ParseResult, RepairLevel } from '../json/index.js';
import type { Guard } from './security/guard.js';
import type { ServerSettings } from './server-settings.js';

export interface ServerContext {
  readonly store: Store;
  readonly lead: Lead;
  /** The wrappers that orders may name in their field `worker`; must match the lead's. */
  readonly wrappers: Wrappers;
  /** The absolute path of the data folder, which contains the run folders. */
  readonly data: string;
  /** The archive with the runs of other hosts, if configured. */
  readonly archive: Archive | undefined;
  readonly settings: ServerSettings;
  /** Secrets to mask in reports and cases. */
  readonly secrets: Secrets;
  readonly guard: Guard;
  readonly console: ConsoleFiles | undefined;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Creates ULIDs, for runs. */
  readonly newId: () => string;
  readonly newRequestId: () => string;
  readonly logger: Logger;
  readonly meter: ServerMeter;
  readonly work: WorkSettings;
  /** Throws `NOT_READY` or `SHUTTING_DOWN` while the server cannot accept work. */
  readonly checkReady: () => Promise<void>;
  /** Throws `SHUTTING_DOWN` once new work is refused. */
  readonly checkAcceptsWork: () => void;
  /** Aborted when the server shuts down: streams close, so their readers reconnect elsewhere. */
  readonly shutdownSignal: AbortSignal;
}

export interface WorkSettings {
  /** How long a claim is valid without being renewed. */
  readonly leaseMs?: number;
  /** The maximum number of concurrent orders per wrapper type. */
  readonly concurrencyByType?: Readonly<Record<string, number>>;
  readonly approvals?: readonly ApprovalRule[];
  /** How many times an order whose worker died is requeued; 1 by default where that is attested, otherwise 0. */
  readonly workerLostRetries?: number | undefined;
  readonly secretPatterns?: readonly string[];
}

export interface ServerMeter {
  countParse(text: ParseOutcome): void;
  countRequest(request: HandledRequest): void;
  /** Returns the metrics in the Prometheus text format. */
  render(): Promise<string>;
}

export interface ParseOutcome {
  readonly status: ParseResult<unknown>['status'];
  readonly repairLevel: RepairLevel;
  /** `none` unless it failed. */
  readonly code: string;
}

export type RouteName = EndpointName | 'mcp';

export interface HandledRequest {
  readonly endpoint: RouteName;
  readonly status: number;
  readonly ms: number;
  /** The trace it belongs to, from its `traceparent` header. */
  readonly traceparent?: string | undefined;
}

/** The console's files by path, such as `/assets/index-Cx3.js`. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

export interface ConsoleFile {
  readonly bytes: Buffer;
  readonly type: string;
  /** The entity tag of its content. */
  readonly tag: string;
  /** Whether its name contains a hash, so browsers may cache it forever. */
  readonly isNamedByContent: boolean;
}
