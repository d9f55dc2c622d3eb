import { EventWriter, toTimestamp } from '../mapping/event-writer.js';
import type { FcmpEvent } from '../protocol/fcmp-event.js';
import type { RaspData, RaspEvent } from '../protocol/rasp-event.js';
import type { Emitted } from '../protocol/translator-output.js';

/** The answer to a permission request. */
export type PermissionAnswer = RaspData<'interaction.permission.replied'>;

/** The last events of an attempt, after which a late answer is numbered. */
export interface AttemptTail {
  readonly rasp: RaspEvent | null;
  readonly fcmp: FcmpEvent | null;
}

/** The tail of a run without events. */
export const NO_TAIL: AttemptTail = { rasp: null, fcmp: null };

/** Returns the last event of each protocol after these events. */
export function advanceTail(tail: AttemptTail, events: readonly Emitted[]): AttemptTail {
  let { rasp, fcmp } = tail;
  for (const emitted of events) {
    if (emitted.protocol === 'rasp') rasp = emitted.event;
    else fcmp = emitted.event;
  }
  return { rasp, fcmp };
}

/**
 * Creates the events of an answer that arrived when the process that asked had already been stopped. They belong to
 * the attempt that asked, because no later attempt exists yet.
 */
export function writeLateAnswer({ rasp, fcmp }: AttemptTail, answer: PermissionAnswer, atMs: number): Emitted[] {
  if (rasp === null || fcmp === null) return [];
  const { engine, parser, parser_version: parserVersion } = rasp.source;
  const writer = new EventWriter({
    runId: rasp.run_id,
    attempt: rasp.attempt_number,
    engine,
    parser,
    parserVersion,
    seq: rasp.seq,
    fcmpSeq: fcmp.seq,
    sessionId: rasp.correlation.session_id ?? null,
    isContinued: true,
    cachedFrom: null,
    waitsForSession: false,
    usageEndsStep: false,
  });
  // Times never decrease within a run, even if the clock was set back while it waited.
  writer.time = toTimestamp(Math.max(atMs, Date.parse(rasp.ts)));
  writer.write('interaction.permission.replied', answer, { interaction_id: answer.interaction_id });
  return writer.take();
}
