import type { CapturedStream } from '../protocol/event-parts.js';

/** Indented, or the closing brackets of something indented. */
const CONTINUATION = /^(?:\s|[\])}]+[,;)]?\s*$)/u;

/**
 * Follows the dump that programs written in JavaScript print after an error: its stack, its fields, the answer of
 * the server. Such lines belong to the error that was reported with its first line.
 */
export class ErrorDump {
  readonly #isOpen: Record<CapturedStream, boolean> = { stdout: false, stderr: false, pty: false, stdin: false };

  /** The first line of an error was read. */
  begin(stream: CapturedStream): void {
    this.#isOpen[stream] = true;
  }

  isOpen(stream: CapturedStream): boolean {
    return this.#isOpen[stream];
  }

  /** Whether a line belongs to the dump; the first one that does not ends it. */
  continues(stream: CapturedStream, text: string): boolean {
    this.#isOpen[stream] &&= CONTINUATION.test(text);
    return this.#isOpen[stream];
  }

  end(stream: CapturedStream): void {
    this.#isOpen[stream] = false;
  }
}
