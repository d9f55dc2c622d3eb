import type { StreamName } from '../protocol/event-parts.js';

/** Indented, or the closing brackets of something indented. */
const CONTINUATION = /^(?:\s|[\])}]+[,;)]?\s*$)/u;

/**
 * Follows the dump that programs written in JavaScript print behind an error: its stack, its fields, the answer of
 * the server. Such lines belong to the error that was reported with its first line.
 */
export class ErrorDump {
  readonly #isOpen: Record<StreamName, boolean> = { stdout: false, stderr: false, pty: false };

  /** The first line of an error was read. */
  begin(stream: StreamName): void {
    this.#isOpen[stream] = true;
  }

  isOpen(stream: StreamName): boolean {
    return this.#isOpen[stream];
  }

  /** Whether a line goes on with the dump; the first one that does not ends it. */
  continues(stream: StreamName, text: string): boolean {
    this.#isOpen[stream] &&= CONTINUATION.test(text);
    return this.#isOpen[stream];
  }

  end(stream: StreamName): void {
    this.#isOpen[stream] = false;
  }
}
