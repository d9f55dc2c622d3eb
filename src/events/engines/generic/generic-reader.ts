import type { Reader } from '../../engine.js';
import type { TextFrame } from '../../framing/frame.js';
import type { Report } from '../../report.js';

/** How sure it is that a line of an unknown program is the agent speaking. */
const CONFIDENCE = 0.6;

/** Longest message; a program that never stops talking gets several. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

/** Reads plain text: the lines of stdout are one message, told line by line and as a whole at the end. */
export function createGenericReader(report: Report): Reader {
  let first: TextFrame | null = null;
  let last: TextFrame | null = null;
  /** Line ends since the last word: told with the next one, so that none are told at the end. */
  let gap = '';

  function close(): void {
    if (first === null || last === null) return;
    report.spanning(first, last);
    report.confidence(CONFIDENCE);
    report.closeMessage();
    first = null;
    last = null;
    gap = '';
  }

  function say(frame: TextFrame): void {
    if (first !== null && frame.to - first.from > MAX_MESSAGE_BYTES) close();
    first ??= frame;
    last = frame;
    report.spanning(frame, frame);
    report.confidence(CONFIDENCE);
    report.messageDelta(`${gap}${frame.text}`);
    gap = '\n';
  }

  return {
    // Framed as text, the engine meets no JSON.
    json: () => report.unparsed(),
    text(frame) {
      if (frame.stream === 'stderr') return report.noise();
      if (frame.text.trim() !== '') return say(frame);
      if (first !== null) gap += `${frame.text}\n`;
      report.hold();
    },
    end: close,
  };
}
