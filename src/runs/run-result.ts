import type { FsDiff, Usage } from '../events/index.js';
import type { RepairLevel } from '../json/index.js';

/** What came of a run. */
export interface RunResult {
  readonly status: 'success' | 'failed' | 'canceled' | 'comment';
  /** Only with `success` and a contract. */
  readonly value?: unknown;
  /** The agent's words, where the output has no value and the contract lets that pass. */
  readonly comment?: string;
  readonly repair_level: RepairLevel;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
  readonly error?: RunFailure;
  readonly artifacts: FsDiff;
  readonly usage?: Usage;
  /** How many attempts it took. */
  readonly attempts: number;
  readonly session_id: string | null;
  /** The run this result was kept from, if it came out of the cache. */
  readonly cached_from?: string;
}

/** Why there is no result, with what was tried. */
export interface RunFailure {
  readonly category: 'canceled' | 'timeout' | 'limit' | 'engine' | 'process' | 'output';
  readonly code: string;
  readonly message: string;
  readonly issues?: readonly { readonly path: readonly (string | number)[]; readonly message: string }[];
  readonly tried?: readonly unknown[];
}
