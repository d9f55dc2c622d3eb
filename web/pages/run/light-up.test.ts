import { expect, test } from 'vitest';
import type { RawRef } from '../../../src/events/index.js';
import { createConversation } from './conversation.js';
import { createEventList } from './event-list.js';
import { fcmpEvent, raspEvent } from './events.fixture.js';
import { lightUp, readPlace, writePlace } from './light-up.js';
import type { RunLenses, Place } from './light-up.js';
import { createRawRows } from './raw-rows.js';
import fc from 'fast-check';

const bytes = (byte_from: number, byte_to: number): RawRef => ({
  attempt_number: 1,
  stream: 'stdout',
  byte_from,
  byte_to,
  encoding: 'utf-8',
});

/** A tool call between two messages; its end comes after the second. */
function readRun(): RunLenses {
  const lenses = { conversation: createConversation(), list: createEventList(), rows: createRawRows() };
  const frames: [from: number, to: number, type: 'assistant.message.final' | 'assistant.tool_call', data: object][] = [
    [0, 10, 'assistant.message.final', { message_id: 'm1', text: 'a' }],
    [10, 20, 'assistant.tool_call', { tool_call_id: 't', name: 'n', status: 'started' }],
    [20, 30, 'assistant.message.final', { message_id: 'm2', text: 'b' }],
    [30, 40, 'assistant.tool_call', { tool_call_id: 't', name: 'n', status: 'completed' }],
  ];
  for (const [index, [from, to, type, data]] of frames.entries()) {
    const event = raspEvent({ seq: index + 1, raw_ref: bytes(from, to) });
    lenses.rows.take(event, lenses.list.append(event));
    lenses.conversation.append(fcmpEvent(type, data, { seq: index + 1, raw_ref: bytes(from, to) }));
  }
  lenses.list.append(raspEvent({ seq: 5 }));
  return lenses;
}

test('an item lights up its events and bytes, all of them, and nothing between', () => {
  const light = lightUp(readRun(), { lens: 'conversation', seq: 2 });
  expect(light).toMatchObject({ item: 1, event: 1, row: 1 });
  expect(light?.bytes.spans).toEqual([
    expect.objectContaining({ byte_from: 10, byte_to: 20 }),
    expect.objectContaining({ byte_from: 30, byte_to: 40 }),
  ]);
  expect(light?.items).toEqual(new Set([1]));
});

test('an event lights up the item and the bytes', () => {
  expect(lightUp(readRun(), { lens: 'events', attempt: 1, seq: 4 })).toMatchObject({ item: 1, event: 3, row: 3 });
});

test('bytes light up every item and event made of any of them', () => {
  const light = lightUp(readRun(), { lens: 'raw', attempt_number: 1, stream: 'stdout', byte_from: 5, byte_to: 25 });
  expect(light).toMatchObject({ item: 0, event: 0, row: 0 });
  expect(light?.items).toEqual(new Set([0, 1, 2]));
});

test('an event without bytes lights up itself', () => {
  expect(lightUp(readRun(), { lens: 'events', attempt: 1, seq: 5 })).toMatchObject({ item: null, event: 4, row: null });
});

test('events that have not arrived light up nothing', () => {
  expect(lightUp(readRun(), { lens: 'events', attempt: 2, seq: 1 })).toBeNull();
  expect(lightUp(readRun(), { lens: 'conversation', seq: 99 })).toBeNull();
});

const number = fc.integer({ min: 1, max: 1_000_000 });
const place = fc.oneof<fc.Arbitrary<Place>[]>(
  fc.record({ lens: fc.constant('conversation' as const), seq: number }),
  fc.record({ lens: fc.constant('events' as const), attempt: number, seq: number }),
  fc
    .record({
      attempt_number: number,
      stream: fc.constantFrom('stdout' as const, 'stderr' as const, 'pty' as const),
      byte_from: number,
      length: number,
    })
    .map(({ length, ...rest }) => ({ lens: 'raw' as const, ...rest, byte_to: rest.byte_from + length })),
);

test('reads a place back from the address', () => {
  fc.assert(
    fc.property(place, (one) => {
      expect(readPlace(writePlace(one))).toEqual(one);
    }),
  );
});

test.each([
  null,
  '',
  'c',
  'c-1',
  'e1',
  'x1',
  'b1.stdin.0-5',
  'b1.stdout.5-5',
  'b1.stdout.9-5',
  'c1;DROP',
  `c${'9'.repeat(30)}`,
])('%j is not a place', (word) => {
  expect(readPlace(word)).toBeNull();
});

test('reads any text without an error', () => {
  fc.assert(fc.property(fc.string(), (word) => void readPlace(word)));
});
