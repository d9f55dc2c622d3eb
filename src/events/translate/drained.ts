import type { EndSignal } from '../protocol/completion.js';
import type { Emitted } from '../protocol/emitted.js';
import type { Usage } from '../protocol/usage.js';

/** What the bytes of an attempt say in all, before anyone has judged how it ended. */
export interface Drained {
  /** What was left open. */
  readonly events: Emitted[];
  readonly doneMarker: boolean;
  readonly endSignal: EndSignal | null;
  /** The engine's word on an error that ended its work. */
  readonly runtimeError: string | null;
  readonly sessionId: string | null;
  readonly usage: Usage | null;
}
