import { count, name, object, ordinal } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import type { FcmpEvent } from './fcmp-event.js';
import type { RaspEvent } from './rasp-event.js';
import type { EndSignal } from './completion.js';
import type { CapturedStream, Usage } from './event-parts.js';
import { engineName } from './engine-names.js';

/** One event of a translation, tagged with its protocol. A fact comes first as RASP, then, if people care, as FCMP. */
export type Emitted =
  | { readonly protocol: 'rasp'; readonly event: RaspEvent }
  | { readonly protocol: 'fcmp'; readonly event: FcmpEvent };

/** What the bytes of an attempt say in all, before anyone has judged how it ended. */
export interface Drained {
  /** What was left open. */
  readonly events: Emitted[];
  readonly doneMarker: boolean;
  readonly endSignal: EndSignal | null;
  /** The engine's message about the error that ended its work. */
  readonly runtimeError: string | null;
  readonly sessionId: string | null;
  readonly usage: Usage | null;
}

/** From a byte to another, the end not included. */
export type ByteRange = readonly [from: number, to: number];

/** How the bytes of one stream were claimed. Nothing was lost if `unclaimed` and `doubled` are empty. */
export interface StreamCoverage {
  readonly bytes: number;
  readonly claimed: number;
  readonly unclaimed: readonly ByteRange[];
  readonly doubled: readonly ByteRange[];
}

/** The account of every byte of every stream. */
export type Coverage = Readonly<Record<CapturedStream, StreamCoverage>>;

const counts = { type: 'object', additionalProperties: count } as const;

/** How often each unknown type and field was met in one attempt; the last row of an attempt that met any. */
export const driftSummarySchema = object({
  summary: { const: 'drift' },
  run_id: name,
  attempt_number: ordinal,
  engine: engineName,
  engine_version: { type: ['string', 'null'] },
  unknown_types: counts,
  unknown_fields: counts,
});

/** How often an engine said what this version does not know. */
export type DriftSummary = FromSchema<typeof driftSummarySchema>;
