import type { OutboxMessage } from '../../../src/api/index.js';
import type { SinkState } from '../../../src/records/index.js';

/** A sink's health, derived from the listed comments and the server's list of failing sinks. */
export interface SinkHealth {
  readonly name: string;
  readonly state: 'ok' | SinkState['state'];
  /** Time and destination of the newest listed comment it accepted. */
  readonly last: { readonly at: string; readonly to: string } | null;
  /** The number of comments it has not accepted. */
  readonly undelivered: number;
  /** Its last error. */
  readonly error: string | null;
}

/** Summarizes the sinks of the listed comments and all sinks with undelivered comments, sorted by name. */
export function summarizeSinks(
  messages: readonly OutboxMessage[],
  failing: readonly SinkState[],
): readonly SinkHealth[] {
  const delivered = new Map<string, SinkHealth['last']>();
  // Messages are listed newest first.
  for (const { sink, state, created_at: at, delivered_to: to } of messages) {
    const last = state === 'delivered' ? { at, to: to ?? '' } : null;
    delivered.set(sink, delivered.get(sink) ?? last);
  }
  const names = [...new Set([...delivered.keys(), ...failing.map(({ name }) => name)])].sort();
  return names.map((name) => {
    const failure = failing.find((sink) => sink.name === name);
    return {
      name,
      state: failure?.state ?? 'ok',
      last: delivered.get(name) ?? null,
      undelivered: (failure?.open ?? 0) + (failure?.dead ?? 0),
      error: failure?.last_error ?? null,
    };
  });
}
