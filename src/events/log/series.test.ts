import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTranslator } from '../translator.js';
import { decodeLine, encodeLines } from './series.js';

function decode(lines: string): unknown[] {
  expect(lines === '' || lines.endsWith('\n')).toBe(true);
  return lines
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => decodeLine(line) ?? ['damaged']);
}

/** Returns a value after a round trip through JSON. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function createEvents(count: number, change: (index: number) => object = () => ({})): object[] {
  return Array.from({ length: count }, (_, index) => ({
    version: 'rasp/1.1',
    seq: index + 1,
    ts: new Date(1_790_000_000_000 + index).toISOString(),
    data: { text: 'abcdefgh'[index % 8], tags: ['x', index] },
    raw_ref: { from: 2 * index, to: 2 * index + 2 },
    ...change(index),
  }));
}

describe('log lines', () => {
  it('are one event each, if there are few', () => {
    const events = createEvents(63);
    expect(encodeLines(events)).toBe(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  });

  it('store a long series of small events in one line, and return each of them', () => {
    const events = createEvents(2000);
    const lines = encodeLines(events);
    expect(lines.split('\n')).toHaveLength(2);
    expect(lines.length).toBeLessThan(2000 * 20);
    expect(decode(lines).map((event) => JSON.stringify(event))).toEqual(events.map((event) => JSON.stringify(event)));
  });

  it('store multiple kinds of events in one series', () => {
    const events = createEvents(500, (index) => (index % 3 === 0 ? { kind: 'warning', code: 'X' } : {}));
    const lines = encodeLines(events);
    expect(lines.split('\n')).toHaveLength(2);
    expect(decode(lines)).toEqual(events);
  });

  it('end a series at a large event', () => {
    const events = createEvents(201, (index) => (index === 100 ? { text: 'x'.repeat(300) } : {}));
    const lines = encodeLines(events);
    expect(lines.split('\n')).toHaveLength(4);
    expect(decode(lines)).toEqual(events);
  });

  it('are one event each, if the events have little in common', () => {
    const events = Array.from({ length: 128 }, (_, index) => ({ [`key_${index}`]: index }));
    expect(encodeLines(events).split('\n')).toHaveLength(129);
    const texts = Array.from({ length: 128 }, (_, index) => ({ text: `${index} ${'word '.repeat(20)}` }));
    expect(encodeLines(texts).split('\n')).toHaveLength(129);
  });

  it('return the original events', () => {
    const leaf = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.constantFrom('2026-11-15T06:00:00.000Z', '2026-02-30T06:00:00.000Z', '__proto__', -0, 1e300, 0.1),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    );
    const event = fc.record({
      seq: fc.integer(),
      a: leaf,
      b: fc.oneof(leaf, fc.array(leaf, { maxLength: 2 }), fc.dictionary(fc.string({ maxLength: 3 }), leaf)),
    });
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 4, minLength: 1 }),
        fc.integer({ min: 0, max: 150 }),
        (someEvents, extraCount) => {
          const events: object[] = Array.from({ length: extraCount }, (_, index) => ({
            ...someEvents[index % someEvents.length],
            seq: index,
          }));
          events.push(...someEvents);
          expect(decode(encodeLines(events))).toEqual(events.map(asJson));
        },
      ),
    );
  });

  it.each(['codex', 'generic', 'acp'] as const)('need a few bytes for each short line of %s', (engine) => {
    const translator = createTranslator({ engine, runId: '01KA3ORDERASKED00000000000', attempt: 1, clock: () => 0 });
    const bytes = new TextEncoder().encode('{}\n'.repeat(2000));
    const events = [...translator.push('stdout', bytes)];
    for (const protocol of ['rasp', 'fcmp']) {
      const protocolEvents = events.filter((emitted) => emitted.protocol === protocol).map(({ event }) => event);
      expect(encodeLines(protocolEvents).length).toBeLessThan(6 * bytes.length);
      expect(decode(encodeLines(protocolEvents))).toEqual(protocolEvents.map(asJson));
    }
  });
});

describe('a damaged line', () => {
  const line = JSON.parse(encodeLines(createEvents(64))) as {
    count: number;
    kinds: { event: object; columns: { path: unknown[]; add?: unknown[] }[] }[];
  };
  const column = { path: ['seq'], add: [[1, 63]] };

  it.each([
    ['invalid JSON', 'x'],
    ['an array', '[]'],
    ['another version', JSON.stringify({ ...line, series: 2 })],
    [
      'more events than a series can have',
      JSON.stringify({ series: 1, count: 1e9, kinds: [{ event: {}, columns: [] }] }),
    ],
    ['more events than its columns have', JSON.stringify({ ...line, count: 65 })],
    ['no kinds', JSON.stringify({ ...line, kinds: [] })],
    [
      'an order with unknown kinds',
      JSON.stringify({ ...line, kinds: [...line.kinds, ...line.kinds], order: '2'.repeat(64) }),
    ],
    ['no order', JSON.stringify({ ...line, kinds: [...line.kinds, ...line.kinds] })],
    ['a path that the event does not have', withColumn({ ...column, path: ['other'] })],
    ['a path into the prototype', withColumn({ path: ['__proto__', 'polluted'], values: [[1, 63]] })],
    ['the length of an array', withColumn({ path: ['data', 'tags', 'length'], add: [[1e6, 63]] })],
    ['a path to an object', withColumn({ path: ['data'], values: [[1, 63]] })],
    ['an object as a value', withColumn({ path: ['seq'], values: [{}] })],
    ['a difference that is not a number', withColumn({ path: ['seq'], add: [['1', 63]] })],
    ['a time that is out of range', withColumn({ path: ['ts'], ms: [[1e300, 63]] })],
  ])('with %s has no events', (_, text) => {
    expect(decodeLine(text)).toBeUndefined();
  });

  function withColumn(other: object): string {
    return JSON.stringify({ ...line, kinds: line.kinds.map((kind) => ({ ...kind, columns: [other] })) });
  }
});
