import { LineMessage } from '../../reading/line-message.js';
import type { Reader } from '../engine.js';
import type { Report } from '../report.js';

/** How sure it is that a line of an unknown program is the agent speaking. */
const CONFIDENCE = 0.6;

/** Reads plain text: the lines of stdout are one message, told line by line and as a whole at the end. */
export function createGenericReader(report: Report): Reader {
  const message = new LineMessage(report, () => ({ confidence: CONFIDENCE }));
  return {
    // Framed as text, the engine meets no JSON.
    json: () => report.unparsed(),
    text(frame) {
      if (frame.stream === 'stderr') return report.noise();
      if (frame.text.trim() === '') message.skip(frame.text);
      else message.say(frame, frame.text, CONFIDENCE);
    },
    end: () => message.close(),
  };
}
