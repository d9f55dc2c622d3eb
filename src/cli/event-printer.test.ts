import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FcmpEvent } from '../events/index.js';
import { createEventPrinter } from './event-printer.js';
import { createFcmpEvent } from './fixtures/fcmp-event.js';

const delta = (text: string, message_id = 'm_1_1') => createFcmpEvent('assistant.message.delta', { message_id, text });
const final = (text: string, message_id = 'm_1_1') => createFcmpEvent('assistant.message.final', { message_id, text });
const warning = () => createFcmpEvent('diagnostic.warning', { code: 'NO_OUTPUT', message: 'x' });

function printAll(...events: readonly FcmpEvent[]): string[] {
  const printer = createEventPrinter();
  return events.map((event) => printer.format(event));
}

describe('a message', () => {
  it('is shown while it is written, and not again when it is complete', () => {
    expect(printAll(delta('Do'), delta('ne.'), final('Done.'))).toEqual(['Do', 'ne.', '\n']);
    expect(printAll(delta('one\n'), delta('two\n'), final('one\ntwo\n'))).toEqual(['one\n', 'two\n', '']);
  });

  it('that was not streamed is shown completely', () => {
    expect(printAll(final('Done.\n\n'))).toEqual(['Done.\n']);
    expect(printAll(delta('A'), final('B', 'm_1_2'))).toEqual(['A', '\nB\n']);
  });

  it('is completed with its missing part at the end', () => {
    expect(printAll(delta('Do'), final('Done.'))).toEqual(['Do', 'ne.\n']);
  });

  it('whose final text differs is shown again', () => {
    expect(printAll(delta('Do'), final('No.'))).toEqual(['Do', '\nNo.\n']);
  });

  it('does not share its line with anything else', () => {
    expect(printAll(delta('Do'), warning(), delta('ne.'), final('Done.'))).toEqual([
      'Do',
      '\n! NO_OUTPUT: x\n',
      'ne.',
      '\n',
    ]);
    expect(printAll(delta('a'), delta('b', 'm_1_2'))).toEqual(['a', '\nb']);
  });

  it('never moves the cursor, wherever it is split', () => {
    expect(printAll(delta('\u001B'), delta('[2J')).join('')).toBe('␛[2J');
  });

  it('is shown once and completely, wherever it is split', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (chunks) => {
        const text = chunks.join('');
        const streamed = printAll(...chunks.map((chunk) => delta(chunk)), final(text)).join('');
        const once = printAll(final(text)).join('');
        expect(streamed.trimEnd()).toBe(once.trimEnd());
      }),
    );
  });

  it('that is very long is only partly remembered, and its end is printed again', () => {
    const longText = 'x'.repeat(700_000);
    const [, , , last] = printAll(delta(longText), delta(longText), delta(longText), final(longText.repeat(3)));
    expect(last?.length).toBeGreaterThan(0);
  });
});
