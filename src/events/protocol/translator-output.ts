import { count, name, object, ordinal, type FromSchema } from '../../base/index.js';
import type { FcmpEvent } from './fcmp-event.js';
import type { RaspEvent } from './rasp-event.js';
import type { EndSignal } from './completion.js';
import type { CapturedStream, Usage } from './event-parts.js';
import { engineName } from './engine-names.js';

/** An event, tagged with its protocol. It is emitted as RASP first and then, if FCMP has a type for it, as FCMP. */
export type Emitted =
  | { readonly protocol: 'rasp'; readonly event: RaspEvent }
  | { readonly protocol: 'fcmp'; readonly event: FcmpEvent };

/** The state after all bytes of an attempt, before its end is judged. */
export interface DrainResult {
  /** Events that were still pending. */
  readonly events: Emitted[];
  readonly doneMarker: boolean;
  readonly endSignal: EndSignal | null;
  /** The engine's message about the error that ended its work. */
  readonly runtimeError: string | null;
  readonly sessionId: string | null;
  readonly usage: Usage | null;
}

/** A byte range; the end is exclusive. */
export type ByteRange = readonly [from: number, to: number];

/** The claimed bytes of one stream. Every byte was claimed once if `unclaimed` and `doubled` are empty. */
export interface StreamCoverage {
  readonly bytes: number;
  readonly claimed: number;
  readonly unclaimed: readonly ByteRange[];
  readonly doubled: readonly ByteRange[];
}

/** The byte coverage of every stream. */
export type Coverage = Readonly<Record<CapturedStream, StreamCoverage>>;

const counts = { type: 'object', additionalProperties: count } as const;

/** The number of occurrences of each unknown type and field in an attempt; written after an attempt that had any. */
export const driftSummarySchema = object({
  summary: { const: 'drift' },
  run_id: name,
  attempt_number: ordinal,
  engine: engineName,
  engine_version: { type: ['string', 'null'] },
  unknown_types: counts,
  unknown_fields: counts,
});

/** Counts of unknown types and fields. */
export type DriftSummary = FromSchema<typeof driftSummarySchema>;
