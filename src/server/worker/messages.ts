import { omitUndefined, type FromSchema } from '../../base/index.js';
import type { EventPack } from '../../events/index.js';
import type { WorkerEnd } from '../../orders/index.js';
import { StoreError } from '../../store/index.js';
import type { workerEndSchema } from '../api/index.js';

/** Creates the error for a run that this process does not hold. */
export function createNotHeldError(name: string): StoreError {
  return new StoreError('ORDER_NOT_FOUND', `This worker does not hold "${name}".`);
}

/** The characters of events in one request. */
const MAX_LINES_LENGTH = 4 * 1024 * 1024;

/** Splits packs into requests of bounded size. */
export function splitPacks(packs: readonly EventPack[]): readonly (readonly EventPack[])[] {
  const groups: EventPack[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const pack of packs) {
    if (length + pack.lines.length > MAX_LINES_LENGTH) {
      groups.push([]);
      length = 0;
    }
    groups.at(-1)?.push(pack);
    length += pack.lines.length;
  }
  return groups;
}

export function formatEnd(end: WorkerEnd, lastOutput: string): FromSchema<typeof workerEndSchema> {
  return {
    exit_code: end.exitCode,
    signal: end.signal ?? null,
    last_output: lastOutput,
    ...omitUndefined({
      has_ended: end.hasEnded,
      run_error: end.runError,
      start_error: end.startError,
      unresolved: end.unresolved,
      canceled: end.canceled,
      command: end.command,
      worker_version: end.workerVersion,
      note: end.note,
      run_result: end.runResult,
      reading: end.reading,
      evidence: end.evidence,
      changed_lines: end.changedLines,
    }),
  };
}
