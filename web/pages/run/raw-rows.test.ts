import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RaspEvent } from '../../../src/events/index.js';
import { ROW_BYTES, createRawRows, findLastStderr, readStreamSizes, type RawRows } from './raw-bytes.js';
import { raspEvent } from './fixtures/events.js';

const listRows = (rows: RawRows) => Array.from({ length: rows.count() }, (_, index) => rows.row(index));
const createEvent = (byte_from: number, byte_to: number, stream: 'stdout' | 'stderr' = 'stdout'): RaspEvent =>
  raspEvent({ raw_ref: { attempt_number: 1, stream, byte_from, byte_to, encoding: 'utf-8' } });

test('every frame of every stream has a row, in event order', () => {
  const rows = createRawRows();
  rows.addEvent(createEvent(0, 10), 1000);
  rows.addEvent(createEvent(0, 5, 'stderr'), 1001);
  rows.addEvent(createEvent(10, 20), 1002);
  expect(listRows(rows).map(({ stream, byte_from, byte_to, at }) => [stream, byte_from, byte_to, at])).toEqual([
    ['stdout', 0, 10, 1000],
    ['stderr', 0, 5, 1001],
    ['stdout', 10, 20, 1002],
  ]);
});

test('events of the same frame share a row, and events without bytes have none', () => {
  const rows = createRawRows();
  rows.addEvent(createEvent(0, 10), 1000);
  rows.addEvent(createEvent(0, 10), 1001);
  rows.addEvent(raspEvent({ raw_ref: null }), 1002);
  expect(rows.count()).toBe(1);
});

test('bytes without an event have rows too', () => {
  const rows = createRawRows();
  rows.addEvent(createEvent(5, 10), 1000);
  rows.setSize({ attempt_number: 1, stream: 'stdout' }, 12);
  expect(listRows(rows).map(({ byte_from, byte_to, at }) => [byte_from, byte_to, at])).toEqual([
    [0, 5, null],
    [5, 10, 1000],
    [10, 12, null],
  ]);
});

test('a long frame is split into multiple rows', () => {
  const rows = createRawRows();
  rows.addEvent(createEvent(0, ROW_BYTES * 2 + 1), 1000);
  expect(rows.count()).toBe(3);
  expect(rows.find({ attempt_number: 1, stream: 'stdout', byte_from: ROW_BYTES * 2, byte_to: ROW_BYTES * 2 + 1 })).toBe(
    2,
  );
});

test('every byte of a stream is in one row, and is found there', () => {
  const frame = fc.record({ gap: fc.nat(3), length: fc.integer({ min: 1, max: ROW_BYTES * 2 }) });
  fc.assert(
    fc.property(fc.array(frame, { minLength: 1, maxLength: 20 }), fc.nat(), (frames, pick) => {
      const rows = createRawRows();
      let end = 0;
      for (const { gap, length } of frames) {
        rows.addEvent(createEvent(end + gap, end + gap + length), 1000);
        end += gap + length;
      }
      let expected = 0;
      for (const { byte_from, byte_to } of listRows(rows)) {
        expect(byte_from).toBe(expected);
        expected = byte_to;
      }
      expect(expected).toBe(end);
      const byte = pick % end;
      const row = rows.find({ attempt_number: 1, stream: 'stdout', byte_from: byte, byte_to: byte + 1 });
      const { byte_from, byte_to } = rows.row(row ?? -1);
      expect(byte >= byte_from && byte < byte_to).toBe(true);
    }),
  );
});

test('counts the rows that had arrived at a point in time', () => {
  const rows = createRawRows();
  rows.addEvent(createEvent(0, 10), 1000);
  rows.addEvent(createEvent(10, 20), 2000);
  expect([rows.count(999), rows.count(1000), rows.count(1999), rows.count(2000)]).toEqual([0, 1, 1, 2]);
});

test('stream files are recognized by their names', () => {
  const files = ['stdout.1.log', 'pty-output.2.log', 'meta.1.json', 'stdin.1.log', 'work_result.json', 'stdout.x.log'];
  expect(readStreamSizes(files.map((name) => ({ name, size: 7 })))).toEqual([
    { name: { attempt_number: 1, stream: 'stdout' }, size: 7 },
    { name: { attempt_number: 2, stream: 'pty' }, size: 7 },
  ]);
});

test('finds the stderr of the last attempt that wrote to it', () => {
  const files = [
    { name: 'stderr.2.log', size: 10 },
    { name: 'stderr.10.log', size: 5 },
    { name: 'stderr.11.log', size: 0 },
    { name: 'stdout.12.log', size: 7 },
  ];
  expect(findLastStderr(files)).toEqual({ name: 'stderr.10.log', size: 5 });
  expect(findLastStderr([])).toBeNull();
});
