import type { Engine, Reader } from '../engine.js';
import { LineMessage } from '../../reading/text-answer.js';
import type { Emit } from '../fact.js';

/** Any command: stdout is its answer, stderr is its log. It has no end signal and no session. */
export const genericEngine: Engine = {
  name: 'generic',
  parser: 'generic_text',
  parserVersion: '1',
  framing: 'text',
  guarantees: { session: 'never', endSignal: false },
  detect: () => 0,
  readSession: () => null,
  createReader: createGenericReader,
};

/** The confidence that a line printed by an unknown agent is its message. */
const CONFIDENCE = 0.6;

/** Control characters are no part of a text, and take six bytes each in JSON. */
const CONTROLS = new RegExp(String.raw`[\u0000-\u0007\u000b\u000e-\u001f\u007f]+`, 'g');

/** Reads plain text: the lines of stdout are one message, reported line by line and in full at the end. */
function createGenericReader(emit: Emit): Reader {
  const message = new LineMessage(emit, () => ({ confidence: CONFIDENCE }));
  return {
    // Never called: text framing produces no JSON frames.
    json: () => emit({ fact: 'unparsed' }),
    text(frame) {
      if (frame.stream === 'stderr') return emit({ fact: 'noise' });
      if (frame.problem === 'too_long') return emit({ fact: 'unparsed' });
      message.add(frame, frame.text.replaceAll(CONTROLS, ''), CONFIDENCE);
    },
    end: () => message.close(),
  };
}
