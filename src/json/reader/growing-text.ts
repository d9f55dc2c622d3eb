/** Pieces are joined at this length: many small strings take more memory than their text. */
const BLOCK = 16_384;

/** A text that grows by small pieces. It is kept at little more than its own size, and what is joined is not copied again. */
export class GrowingText {
  #joined = '';
  #tail = '';

  append(piece: string): void {
    this.#tail += piece;
    if (this.#tail.length >= BLOCK) this.join();
  }

  /** Reading a character makes the engine join the pieces and let them go. */
  join(): void {
    if (this.#tail.charCodeAt(0) >= 0) this.#joined += this.#tail;
    this.#tail = '';
  }

  get text(): string {
    return this.#joined + this.#tail;
  }
}
