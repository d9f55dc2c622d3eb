/** Texts told without their whole that are remembered, in case it comes after all. */
const MAX_UNCONFIRMED = 8;
/** Texts of one message that are remembered. */
const MAX_TEXTS = 256;

/** What a speaker has said lately, by which a repeat is known. */
export class SaidTexts {
  #messageId: string | null = null;
  #texts: string[] = [];
  #unconfirmed: string[] = [];

  /** What follows is of this message; without an id it is of a new one. */
  enterMessage(id: string | null): void {
    if (id !== null && id === this.#messageId && this.#texts.length < MAX_TEXTS) return;
    this.#messageId = id;
    this.#texts = [];
  }

  add(text: string): void {
    this.#texts.push(text);
  }

  /** Whether the words of the last message are these: its last block, or all of them. */
  isLastMessage(text: string): boolean {
    return this.#texts.at(-1) === text || this.#texts.join('') === text || this.#texts.join('\n') === text;
  }

  /** A text was told that may be printed again as a block. */
  confirmLater(text: string): void {
    this.#unconfirmed.push(text);
    if (this.#unconfirmed.length > MAX_UNCONFIRMED) this.#unconfirmed.shift();
  }

  /** Whether a block is one that was told before; true once for each time it was. */
  confirms(text: string): boolean {
    const known = this.#unconfirmed.indexOf(text);
    if (known >= 0) this.#unconfirmed.splice(known, 1);
    return known >= 0;
  }

  /** What was not printed again by now will not be. */
  forgetUnconfirmed(): void {
    this.#unconfirmed = [];
  }
}
