import type { Emitted } from '../../events/index.js';

/** A reader may fall so far behind before it has to read the log. */
const MOST_EVENTS = 16_384;
const MOST_BYTES = 16 * 1024 * 1024;

/** What an event costs beside the bytes it was read from. */
const ENVELOPE = 600;

/** The events of a run that some reader has not had yet, as many as a fixed room holds. */
export class RecentEvents {
  #events: Emitted[] = [];
  #bytes = 0;
  #first = 0;

  /** Adds events, and forgets those before a number and those there is no room for. */
  add(events: readonly Emitted[], needed: number): void {
    for (const emitted of events) {
      this.#events.push(emitted);
      this.#bytes += sizeOf(emitted);
    }
    let dropped = 0;
    while (dropped < this.#events.length) {
      const isNeeded = this.#first + dropped >= needed;
      if (isNeeded && this.#events.length - dropped <= MOST_EVENTS && this.#bytes <= MOST_BYTES) break;
      const oldest = this.#events[dropped];
      if (oldest !== undefined) this.#bytes -= sizeOf(oldest);
      dropped += 1;
    }
    if (dropped === 0) return;
    this.#first += dropped;
    this.#events = this.#events.slice(dropped);
  }

  at(index: number): Emitted | undefined {
    return this.#events[index - this.#first];
  }
}

/** What an event says comes from its bytes, so they measure it without looking. FCMP says it with the same object. */
function sizeOf({ protocol, event }: Emitted): number {
  if (protocol === 'fcmp' || event.raw_ref === null) return ENVELOPE;
  return ENVELOPE + event.raw_ref.byte_to - event.raw_ref.byte_from;
}
