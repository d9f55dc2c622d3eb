import { expect, test } from 'vitest';
import type { RawRef } from '../../../src/events/index.js';
import { createConversation } from './conversation.js';
import { createEventList, createRawRows } from './raw-bytes.js';
import { fcmpEvent, raspEvent } from './fixtures/events.js';
import { findHighlight, parseSelection, formatSelection } from './highlight.js';
import type { RunData, Selection } from './highlight.js';
import fc from 'fast-check';

const bytes = (byte_from: number, byte_to: number): RawRef => ({
  attempt_number: 1,
  stream: 'stdout',
  byte_from,
  byte_to,
  encoding: 'utf-8',
});

/** A tool call between two messages; its end comes after the second. */
function readRun(): RunData {
  const run = { conversation: createConversation(), list: createEventList(), rows: createRawRows() };
  const frames: [from: number, to: number, type: 'assistant.message.final' | 'assistant.tool_call', data: object][] = [
    [0, 10, 'assistant.message.final', { message_id: 'm1', text: 'a' }],
    [10, 20, 'assistant.tool_call', { tool_call_id: 't', name: 'n', status: 'started' }],
    [20, 30, 'assistant.message.final', { message_id: 'm2', text: 'b' }],
    [30, 40, 'assistant.tool_call', { tool_call_id: 't', name: 'n', status: 'completed' }],
  ];
  for (const [index, [from, to, type, data]] of frames.entries()) {
    const event = raspEvent({ seq: index + 1, raw_ref: bytes(from, to) });
    run.rows.addEvent(event, run.list.append(event));
    run.conversation.append(fcmpEvent(type, data, { seq: index + 1, raw_ref: bytes(from, to) }));
  }
  run.list.append(raspEvent({ seq: 5 }));
  return run;
}

test('an item highlights all of its events and bytes, and nothing in between', () => {
  const highlight = findHighlight(readRun(), { pane: 'conversation', seq: 2 });
  expect(highlight).toMatchObject({ item: 1, event: 1, row: 1 });
  expect(highlight?.bytes.spans).toEqual([
    expect.objectContaining({ byte_from: 10, byte_to: 20 }),
    expect.objectContaining({ byte_from: 30, byte_to: 40 }),
  ]);
  expect(highlight?.items).toEqual(new Set([1]));
});

test('an event highlights the item and the bytes', () => {
  expect(findHighlight(readRun(), { pane: 'events', attempt: 1, seq: 4 })).toMatchObject({ item: 1, event: 3, row: 3 });
});

test('bytes highlight every item and event that was created from any of them', () => {
  const highlight = findHighlight(readRun(), {
    pane: 'raw',
    attempt_number: 1,
    stream: 'stdout',
    byte_from: 5,
    byte_to: 25,
  });
  expect(highlight).toMatchObject({ item: 0, event: 0, row: 0 });
  expect(highlight?.items).toEqual(new Set([0, 1, 2]));
});

test('an event without bytes highlights itself', () => {
  expect(findHighlight(readRun(), { pane: 'events', attempt: 1, seq: 5 })).toMatchObject({
    item: null,
    event: 4,
    row: null,
  });
});

test('events that have not arrived highlight nothing', () => {
  expect(findHighlight(readRun(), { pane: 'events', attempt: 2, seq: 1 })).toBeNull();
  expect(findHighlight(readRun(), { pane: 'conversation', seq: 99 })).toBeNull();
});

const number = fc.integer({ min: 1, max: 1_000_000 });
const selection = fc.oneof<fc.Arbitrary<Selection>[]>(
  fc.record({ pane: fc.constant('conversation' as const), seq: number }),
  fc.record({ pane: fc.constant('events' as const), attempt: number, seq: number }),
  fc
    .record({
      attempt_number: number,
      stream: fc.constantFrom('stdout' as const, 'stderr' as const, 'pty' as const),
      byte_from: number,
      length: number,
    })
    .map(({ length, ...rest }) => ({ pane: 'raw' as const, ...rest, byte_to: rest.byte_from + length })),
);

test('a formatted selection is parsed to the same selection', () => {
  fc.assert(
    fc.property(selection, (one) => {
      expect(parseSelection(formatSelection(one))).toEqual(one);
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
])('%j is not a selection', (word) => {
  expect(parseSelection(word)).toBeNull();
});

test('any string is parsed without an error', () => {
  fc.assert(fc.property(fc.string(), (word) => void parseSelection(word)));
});
