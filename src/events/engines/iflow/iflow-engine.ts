import type { Engine } from '../engine.js';
import { createIflowReader } from './iflow-reader.js';

/** iFlow CLI: plain text on stdout, then an `<Execution Info>` block on stderr; both have been seen on either stream. */
export const iflowEngine: Engine = {
  name: 'iflow',
  parser: 'iflow_text',
  parserVersion: '1',
  framing: 'text',
  promises: { session: true, endSignal: true },
  detect: () => 0,
  detectText: (line) => (/<\/?Execution Info>|^Error when talking to iFlow API/u.test(line) ? 1 : 0),
  sessionOf: () => null,
  createReader: createIflowReader,
};
