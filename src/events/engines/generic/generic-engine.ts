import type { Engine } from '../engine.js';
import { createGenericReader } from './generic-reader.js';

/** Any program: stdout is what it says, stderr is its log. Nothing tells when it has ended, or in which session. */
export const genericEngine: Engine = {
  name: 'generic',
  parser: 'generic_text',
  parserVersion: '1',
  framing: 'text',
  promises: { session: false, endSignal: false },
  detect: () => 0,
  sessionOf: () => null,
  createReader: createGenericReader,
};
