import type { FcmpEvent, RaspEvent } from '../../../src/events/index.js';

/** Creates a RASP event for a test, with defaults for everything the test does not set. */
export function raspEvent(changes: Partial<RaspEvent> = {}): RaspEvent {
  return {
    protocol_version: 'rasp/1.1',
    run_id: 'run',
    attempt_number: 1,
    seq: 1,
    ts: '2026-11-15T10:00:00.000Z',
    source: { engine: 'codex', parser: 'codex_ndjson', parser_version: '1', confidence: 1 },
    event: { category: 'raw', type: 'raw.stdout' },
    data: { text: '' },
    correlation: {},
    raw_ref: null,
    ...changes,
  } as RaspEvent;
}

/** Creates an FCMP event for a test. */
export function fcmpEvent(
  type: FcmpEvent['type'],
  data: object,
  {
    seq = 1,
    ms = 0,
    attempt = 1,
    ...rest
  }: Partial<Pick<FcmpEvent, 'seq' | 'raw_ref'>> & { ms?: number; attempt?: number } = {},
): FcmpEvent {
  return {
    protocol_version: 'fcmp/1.1',
    run_id: 'run',
    seq,
    ts: new Date(Date.UTC(2026, 10, 15, 10) + ms).toISOString(),
    engine: 'codex',
    type,
    data,
    meta: { attempt },
    correlation: {},
    raw_ref: null,
    ...rest,
  } as FcmpEvent;
}
