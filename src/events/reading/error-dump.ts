import { perStream, type CapturedStream } from '../protocol/event-parts.js';

/** An indented line, or the closing brackets after indented lines. */
const CONTINUATION = /^(?:\s|[\])}]+[,;)]?\s*$)/u;

/**
 * Tracks the dump that CLIs written in JavaScript print after an error: its stack, its fields, the server's response.
 * These lines belong to the error that was reported with the first line.
 */
export class ErrorDump {
  readonly #isOpen = perStream(() => false);

  /** Starts a dump after the first line of an error. */
  start(stream: CapturedStream): void {
    this.#isOpen[stream] = true;
  }

  isOpen(stream: CapturedStream): boolean {
    return this.#isOpen[stream];
  }

  /** Whether a line belongs to the dump; the first line that does not ends the dump. */
  continues(stream: CapturedStream, text: string): boolean {
    this.#isOpen[stream] &&= CONTINUATION.test(text);
    return this.#isOpen[stream];
  }

  end(stream: CapturedStream): void {
    this.#isOpen[stream] = false;
  }
}
