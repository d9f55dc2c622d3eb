import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FcmpEvent } from '../events/index.js';
import { createEventPrinter } from './event-printer.js';
import { fcmpEvent } from './fixtures/fcmp-event.js';

const delta = (text: string, message_id = 'm_1_1') => fcmpEvent('assistant.message.delta', { message_id, text });
const final = (text: string, message_id = 'm_1_1') => fcmpEvent('assistant.message.final', { message_id, text });
const warning = () => fcmpEvent('diagnostic.warning', { code: 'NO_OUTPUT', message: 'x' });

function tellAll(...events: readonly FcmpEvent[]): string[] {
  const printer = createEventPrinter();
  return events.map((event) => printer.format(event));
}

describe('a message', () => {
  it('is shown while it is written, and not once more when it is whole', () => {
    expect(tellAll(delta('Do'), delta('ne.'), final('Done.'))).toEqual(['Do', 'ne.', '\n']);
    expect(tellAll(delta('one\n'), delta('two\n'), final('one\ntwo\n'))).toEqual(['one\n', 'two\n', '']);
  });

  it('that was not written before is shown whole', () => {
    expect(tellAll(final('Done.\n\n'))).toEqual(['Done.\n']);
    expect(tellAll(delta('A'), final('B', 'm_1_2'))).toEqual(['A', '\nB\n']);
  });

  it('gets what is missing at its end', () => {
    expect(tellAll(delta('Do'), final('Done.'))).toEqual(['Do', 'ne.\n']);
  });

  it('that is another in the end is shown once more', () => {
    expect(tellAll(delta('Do'), final('No.'))).toEqual(['Do', '\nNo.\n']);
  });

  it('does not share its line with anything else', () => {
    expect(tellAll(delta('Do'), warning(), delta('ne.'), final('Done.'))).toEqual([
      'Do',
      '\n! NO_OUTPUT: x\n',
      'ne.',
      '\n',
    ]);
    expect(tellAll(delta('a'), delta('b', 'm_1_2'))).toEqual(['a', '\nb']);
  });

  it('never moves the cursor, however it is cut', () => {
    expect(tellAll(delta('\u001B'), delta('[2J')).join('')).toBe('␛[2J');
  });

  it('is all there, once, however it is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (pieces) => {
        const text = pieces.join('');
        const told = tellAll(...pieces.map((piece) => delta(piece)), final(text)).join('');
        const once = tellAll(final(text)).join('');
        expect(told.trimEnd()).toBe(once.trimEnd());
      }),
    );
  });

  it('that is very long is not remembered for ever', () => {
    const long = 'x'.repeat(700_000);
    const [, , , last] = tellAll(delta(long), delta(long), delta(long), final(long.repeat(3)));
    expect(last?.length).toBeGreaterThan(0);
  });
});
