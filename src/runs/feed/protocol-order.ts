import type { Emitted } from '../../events/index.js';

/**
 * Which protocol each event of a run belongs to, in the order in which they were told: a bit an event. Logs keep the
 * protocols apart; with this they can be put together again exactly as they came.
 */
export class ProtocolOrder {
  #bits = new Uint8Array(128);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(protocol: Emitted['protocol']): void {
    const byte = this.#length >> 3;
    if (byte >= this.#bits.length) {
      const grown = new Uint8Array(2 * this.#bits.length);
      grown.set(this.#bits);
      this.#bits = grown;
    }
    if (protocol === 'fcmp') this.#bits[byte] = (this.#bits[byte] ?? 0) | (1 << (this.#length & 7));
    this.#length += 1;
  }

  at(index: number): Emitted['protocol'] {
    return (((this.#bits[index >> 3] ?? 0) >> (index & 7)) & 1) === 1 ? 'fcmp' : 'rasp';
  }
}
