/** Pieces shorter than this are joined before they are kept: many small strings take more memory than their text. */
const BLOCK = 16_384;

/** All text of a stream, kept for the final parse at little more than its own size. */
export class Transcript {
  readonly #blocks: string[] = [];
  #tail = '';

  append(chunk: string): void {
    this.#tail += chunk;
    if (this.#tail.length < BLOCK) return;
    // Reading a character makes the engine join the pieces and let them go.
    this.#tail.charCodeAt(0);
    this.#blocks.push(this.#tail);
    this.#tail = '';
  }

  get text(): string {
    return this.#blocks.join('') + this.#tail;
  }
}
