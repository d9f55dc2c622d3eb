import type { FcmpData, FsDiff, Usage } from '../events/index.js';
import type { Repair, RepairLevel } from '../json/index.js';

/** What came of a run. */
export interface RunResult {
  readonly status: 'success' | 'failed' | 'canceled' | 'comment';
  /** Only with `success` and a contract. */
  readonly value?: unknown;
  /** The agent's words, where the output has no value and the contract lets that pass. */
  readonly comment?: string;
  /** The agent's last words, where there is no contract. */
  readonly text?: string;
  readonly repair_level: RepairLevel;
  /** The first changes made to the syntax of the answer that was held against the contract; absent if there were none. */
  readonly repairs?: readonly Repair[];
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
  readonly error?: RunFailure;
  readonly artifacts: FsDiff;
  /** How often its output held what this version does not know; absent if it never did. */
  readonly drift?: RunDrift;
  readonly usage?: Usage;
  /** How many attempts it took. */
  readonly attempts: number;
  readonly session_id: string | null;
  /** How the process of the last attempt ended; absent if none was started. Orders decide on it. */
  readonly process?: RunProcess;
  /** The run this result was kept from, if it came out of the cache. */
  readonly cached_from?: string;
}

/** Types and fields of an engine's output that no reader knows, counted over all attempts. */
export interface RunDrift {
  readonly unknown_types: number;
  readonly unknown_fields: number;
}

/** The process of an attempt, once it is over. */
export interface RunProcess {
  readonly exit_code: number | null;
  readonly signal: string | null;
  /** What was started, secrets masked. */
  readonly command: readonly string[];
  /** The version the program reports; null if it was not asked or did not say. */
  readonly version: string | null;
}

/** Why there is no result, with what was tried. */
export interface RunFailure {
  readonly category: FcmpData<'conversation.failed'>['error']['category'];
  readonly code: string;
  readonly message: string;
  readonly issues?: readonly { readonly path: readonly (string | number)[]; readonly message: string }[];
  /** The candidates that were looked at, and why none was taken. */
  readonly tried?: readonly {
    readonly finder: string;
    readonly start: number;
    readonly end: number;
    readonly code: string;
    readonly message: string;
  }[];
}
