import type { Emitted } from '../../events/index.js';

/** Enough for readers that keep up; the others read the log. */
const MOST_EVENTS = 1024;
const MOST_BYTES = 8 * 1024 * 1024;

/** What an event costs beside the bytes it was read from. */
const ENVELOPE = 600;

/** The last events of a run, as many as a fixed room holds. */
export class RecentEvents {
  #events: Emitted[] = [];
  #bytes = 0;
  #first = 0;

  /** The number of the first event that is still here. */
  get first(): number {
    return this.#first;
  }

  add(events: readonly Emitted[]): void {
    for (const emitted of events) {
      this.#events.push(emitted);
      this.#bytes += sizeOf(emitted);
    }
    let dropped = 0;
    while (dropped < this.#events.length) {
      if (this.#events.length - dropped <= MOST_EVENTS && this.#bytes <= MOST_BYTES) break;
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

/** What an event says comes from its bytes, so they measure it without looking. */
function sizeOf({ event }: Emitted): number {
  return ENVELOPE + (event.raw_ref === null ? 0 : event.raw_ref.byte_to - event.raw_ref.byte_from);
}
