import type { Engine } from '../engines/engine.js';
import { createFramer } from '../framing/framer.js';
import type { JsonFrame } from '../framing/frame.js';
import type { Emitted } from '../protocol/translator-output.js';
import { selectRasp } from './emitted-invariants.contract.js';
import type { Fixture } from './engine-fixture.contract.js';

/** A record value that is missing from all events of its bytes. */
export interface LostLeaf {
  /** `<record type>: <path>`, with `*` for array indexes. */
  readonly path: string;
  readonly value: string | number | boolean;
}

/**
 * Compares every value of every record of a recording with the events of the same bytes. A string counts as kept if an
 * event contains it, even within a longer string. Booleans and one-digit numbers are too common, so they must be in a
 * field with the same name.
 */
export function findLostLeaves(fixture: Fixture, engine: Engine, emitted: readonly Emitted[]): readonly LostLeaf[] {
  const lostLeaves: LostLeaf[] = [];
  for (const attempt of fixture.attempts) {
    const events = selectRasp(emitted).filter(({ attempt_number }) => attempt_number === attempt.number);
    for (const stream of ['stdout', 'stderr'] as const) {
      const compareFrame = (frame: JsonFrame): void => {
        const overlappingEvents = events.filter(
          ({ raw_ref: ref }) => ref?.stream === stream && ref.byte_from <= frame.from && ref.byte_to >= frame.to,
        );
        const isRaw = overlappingEvents.some(({ event }) => event.category === 'raw');
        if (!isRaw) lostLeaves.push(...compare(frame.value, overlappingEvents));
      };
      const framer = createFramer({
        stream,
        framing: engine.framing,
        recognizes: (value) => engine.detect(value) > 0,
        onFrame: (frame) => void (frame.kind === 'json' && compareFrame(frame)),
      });
      for (const push of attempt.pushes) if (push.stream === stream) framer.push(push.bytes);
      framer.end();
    }
  }
  return lostLeaves;
}

function compare(value: object, events: readonly object[]): LostLeaf[] {
  const eventLeaves = events.flatMap((event) => listLeaves(event, ''));
  const strings = eventLeaves.flatMap((leaf) => (typeof leaf.value === 'string' ? [leaf.value] : []));
  const isTruncated = strings.some((text) => text.includes('…')) || eventLeaves.some(({ path }) => path.includes('…'));
  const records = Array.isArray(value) ? (value as readonly unknown[]) : [value];
  return records.flatMap((record) => {
    const type = describeRecordType(record);
    return listLeaves(record, '').flatMap(({ path, value: leaf }) => {
      const isKept =
        typeof leaf === 'string'
          ? strings.some((text) => text.includes(leaf))
          : eventLeaves.some(
              (other) => other.value === leaf && (isDistinctive(leaf) || getLastKey(other.path) === getLastKey(path)),
            );
      return isKept || isTruncated ? [] : [{ path: `${type}: ${path}`, value: leaf }];
    });
  });
}

/** Whether a value is rare enough to be identified without its field name. */
function isDistinctive(leaf: string | number | boolean): boolean {
  return typeof leaf === 'number' && Math.abs(leaf) > 9;
}

export function getLastKey(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

/** Returns the type and the subtype of a record. */
export function describeRecordType(record: unknown): string {
  const type = typeof record === 'object' && record !== null && 'type' in record ? String(record.type) : 'document';
  const subtype =
    typeof record === 'object' && record !== null && 'subtype' in record ? ` ${String(record.subtype)}` : '';
  return `${type}${subtype}`;
}

/** Lists the scalar values in a value, with their paths. */
export function listLeaves(
  value: unknown,
  path: string,
): { readonly path: string; readonly value: string | number | boolean }[] {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return [{ path, value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    listLeaves(member, `${path}${path === '' ? '' : '.'}${Array.isArray(value) ? '*' : key}`),
  );
}
