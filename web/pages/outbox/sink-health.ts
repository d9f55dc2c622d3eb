import type { OutboxMessage } from '../../../src/api/index.js';
import type { SinkState } from '../../../src/records/index.js';

/** The health of a sink, from the listed comments and the server's list of failing sinks. */
export interface SinkHealth {
  readonly name: string;
  readonly state: 'ok' | SinkState['state'];
  /** The newest of the listed comments that it took: when it was written, and where it is. */
  readonly last: { readonly at: string; readonly to: string } | null;
  /** Comments that it has not taken. */
  readonly undelivered: number;
  /** Its last error. */
  readonly error: string | null;
}

/** The sinks of a list of comments and those with undelivered ones, by name. */
export function summarizeSinks(
  messages: readonly OutboxMessage[],
  troubled: readonly SinkState[],
): readonly SinkHealth[] {
  const delivered = new Map<string, SinkHealth['last']>();
  // The newest come first.
  for (const { sink, state, created_at: at, delivered_to: to } of messages) {
    const last = state === 'delivered' ? { at, to: to ?? '' } : null;
    delivered.set(sink, delivered.get(sink) ?? last);
  }
  const names = [...new Set([...delivered.keys(), ...troubled.map(({ name }) => name)])].sort();
  return names.map((name) => {
    const trouble = troubled.find((one) => one.name === name);
    return {
      name,
      state: trouble?.state ?? 'ok',
      last: delivered.get(name) ?? null,
      undelivered: (trouble?.open ?? 0) + (trouble?.dead ?? 0),
      error: trouble?.last_error ?? null,
    };
  });
}
