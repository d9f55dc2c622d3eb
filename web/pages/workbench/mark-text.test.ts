import { describe, expect, it } from 'vitest';
import { markText, chooseWindow, moveWindow } from './text-pane.js';
import fc from 'fast-check';

const noMarks = { candidates: [], repairs: [], notes: [], chosen: null };

describe('marked text', () => {
  it('is split where marks start and end', () => {
    const text = 'So: {"a": 1 "b": 2}';
    const segments = markText(text, chooseWindow(text.length, 0), {
      candidates: [
        { start: 0, end: 19 },
        { start: 4, end: 19 },
      ],
      repairs: [{ offset: 12 }],
      notes: [{ start: 17, end: 18 }, null],
      chosen: { start: 17, end: 18 },
    });
    expect(
      segments.map(({ text: part, candidate, starts: begins, repairs, note, chosen }) => [
        part,
        candidate,
        begins,
        repairs,
        note,
        chosen,
      ]),
    ).toEqual([
      ['So: ', 0, [0], [], null, false],
      ['{"a": 1 ', 1, [1], [], null, false],
      ['"b": ', 1, [], [0], null, false],
      ['2', 1, [], [], 0, true],
      ['}', 1, [], [], null, false],
    ]);
  });

  it('shows a repair at its very end', () => {
    const segments = markText('{"a": 1', { start: 0, end: 7 }, { ...noMarks, repairs: [{ offset: 7 }] });
    expect(segments.map(({ repairs }) => repairs)).toEqual([[0]]);
  });

  it('contains every character, no matter what is marked', () => {
    const place = fc.nat(40);
    const span = fc
      .tuple(place, place)
      .map(([one, other]) => ({ start: Math.min(one, other), end: Math.max(one, other) }));
    fc.assert(
      fc.property(
        fc.string({ maxLength: 40 }),
        fc.array(span),
        fc.array(place.map((offset) => ({ offset }))),
        fc.array(fc.option(span)),
        fc.option(span),
        (text, candidates, repairs, notes, chosen) => {
          const segments = markText(text, chooseWindow(text.length, 0), { candidates, repairs, notes, chosen });
          expect(segments.map((segment) => segment.text).join('')).toBe(text);
        },
      ),
    );
  });
});

describe('the drawn part of the input', () => {
  it('is the whole input if it is short', () => {
    expect(chooseWindow(100, 50)).toEqual({ start: 0, end: 100 });
  });

  it('can be moved through long input in both directions without skipping a character', () => {
    const length = 50_000;
    let window = chooseWindow(length, 0);
    while (window.end < length) {
      const next = chooseWindow(length, moveWindow(window, length, 1));
      expect(next.start).toBeGreaterThan(window.start);
      expect(next.start).toBeLessThanOrEqual(window.end);
      window = next;
    }
    while (window.start > 0) {
      const previous = chooseWindow(length, moveWindow(window, length, -1));
      expect(previous.start).toBeLessThan(window.start);
      expect(previous.end).toBeGreaterThanOrEqual(window.start);
      window = previous;
    }
  });

  it('contains the selection, and is never long', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 20_000_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (length, fraction) => {
          const chosen = Math.floor(length * fraction);
          const { start, end } = chooseWindow(length, chosen);
          expect(start).toBeLessThanOrEqual(chosen);
          expect(end).toBeGreaterThanOrEqual(chosen);
          expect(end - start).toBeLessThanOrEqual(6000);
        },
      ),
    );
  });
});
