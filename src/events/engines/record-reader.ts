import { createFramer } from '../framing/framer.js';
import type { EngineName } from '../protocol/engine-names.js';
import { ENGINES } from './index.js';

/** Finds the records in an agent's stdout. */
export interface RecordReader {
  push(bytes: Uint8Array): void;
}

/**
 * Reads an agent's records exactly as the translator does, so a live conversation and its recording are read the same
 * way. `null` is passed for a line that is not a record.
 *
 * @example
 * const reader = createRecordReader('claude', (record) => record !== null && answer(record))
 */
export function createRecordReader(name: EngineName, onRecord: (record: object | null) => void): RecordReader {
  const engine = ENGINES[name];
  const framer = createFramer({
    stream: 'stdout',
    framing: engine.framing,
    recognizes: (value) => engine.detect(value) > 0,
    onFrame: (frame) => {
      if (frame.kind === 'json') onRecord(frame.value);
      else if (frame.kind === 'text') onRecord(null);
    },
  });
  return { push: (bytes) => framer.push(bytes) };
}
