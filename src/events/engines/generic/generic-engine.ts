import type { Engine, Reader } from '../engine.js';
import { LineMessage } from '../../reading/line-message.js';
import type { Report } from '../report.js';

/** Any program: stdout is what it says, stderr is its log. Nothing shows when it has ended, or in which session. */
export const genericEngine: Engine = {
  name: 'generic',
  parser: 'generic_text',
  parserVersion: '1',
  framing: 'text',
  promises: { session: 'never', endSignal: false },
  detect: () => 0,
  readSession: () => null,
  createReader: createGenericReader,
};

/** The confidence that a line of an unknown program is the agent's message. */
const CONFIDENCE = 0.6;

/** Reads plain text: the lines of stdout are one message, reported line by line and as a whole at the end. */
function createGenericReader(report: Report): Reader {
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
