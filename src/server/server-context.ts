import type { Lead, Wrappers } from '../orders/index.js';
import type { Logger } from '../base/index.js';
import type { Store } from '../store/index.js';
import type { ConsoleFiles } from './console/read-console.js';
import type { Guard } from './security/guard.js';
import type { ServerMeter } from './server-meter.js';
import type { ServerSettings } from './server-settings.js';

/** What the handlers of all endpoints work with. */
export interface ServerContext {
  readonly store: Store;
  readonly lead: Lead;
  /** The workers that orders may name. */
  readonly wrappers: Wrappers;
  /** The folder of run folders; absolute. */
  readonly data: string;
  readonly settings: ServerSettings;
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
  /** Throws `NOT_READY` or `SHUTTING_DOWN`, with the reason, while the server cannot do its work. */
  readonly checkReady: () => Promise<void>;
  /** Throws `SHUTTING_DOWN` once no new work is taken. */
  readonly checkTakesWork: () => void;
  /** Aborted when the server ends: streams close, so that their readers go elsewhere and resume. */
  readonly ending: AbortSignal;
}
