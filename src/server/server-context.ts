import type { Lead } from '../orders/lead/create-lead.js';
import type { Logger } from '../runs/logger/logger.js';
import type { Store } from '../store/store.js';
import type { ServerMeter } from './server-meter.js';
import type { ServerSettings } from './server-settings.js';

/** What the handlers of all endpoints work with. */
export interface ServerContext {
  readonly store: Store;
  readonly lead: Lead;
  /** The folder of run folders; absolute. */
  readonly data: string;
  readonly settings: ServerSettings;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly newId: () => string;
  readonly logger: Logger;
  readonly meter: ServerMeter;
  /** Throws `NOT_READY` with the reason while the server cannot do its work. */
  readonly checkReady: () => Promise<void>;
  /** Aborted when the server ends: streams close, so that their readers go elsewhere and resume. */
  readonly ending: AbortSignal;
}
