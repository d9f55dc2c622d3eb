import { describe, expect, it } from 'vitest';
import { expectCovered } from '../contract/emitted-invariants.contract.js';
import { translateLines as translate } from '../contract/translate-lines.contract.js';
import type { Scenario } from '../contract/translate-lines.contract.js';

/** Gemini's text answer is certain if its log shows that it is Gemini. */
const translateLines = (scenario: Scenario) => translate({ engine: 'gemini', ...scenario });
const SIGN = 'YOLO mode is enabled. All tool calls will be automatically approved.';
const init = { type: 'init', timestamp: '2026-11-15T01:22:40.975Z', session_id: 'g-1', model: 'm' };
const line = 'x'.repeat(1000);

describe('a plain text answer', () => {
  it('keeps its blank lines, but none around it', () => {
    const translated = translateLines({ stdout: ['', 'One', '', '', '  Two', ''], stderr: [SIGN] });
    expect(translated.of('assistant.message.final')).toMatchObject([{ text: 'One\n\n\n  Two' }]);
  });

  it('is read by another parser, which has no end signal', () => {
    const translated = translateLines({ stdout: ['Hello.'], stderr: [SIGN] });
    const final = translated.emitted.find(
      ({ protocol, event }) => protocol === 'rasp' && 'event' in event && event.event.type === 'agent.message.final',
    );
    expect(final?.event).toMatchObject({
      source: { parser: 'generic_text', confidence: 0.6 },
      raw_ref: { byte_from: 0, byte_to: 7 },
    });
    expect(translated.warnings).not.toContain('EARLY_END_OF_STREAM');
  });

  it('is reported in parts if it is very long, so memory is bounded', () => {
    const translated = translateLines({ stdout: Array.from({ length: 3000 }, () => line) });
    const finals = translated.of('assistant.message.final');
    expect(finals.length).toBe(3);
    expect(
      finals
        .map(({ text }) => text)
        .join('\n')
        .split('\n'),
    ).toHaveLength(3000);
    expectCovered(translated.translator.coverage());
  });

  it('is reported before its blank lines fill the memory', () => {
    const blanks = Array.from({ length: 1024 }, () => ' '.repeat(1024));
    const translated = translateLines({ stdout: ['One', ...blanks, 'Two'], stderr: [SIGN] });
    expect(translated.of('assistant.message.final').map(({ text }) => text)).toEqual(['One', 'Two']);
    expectCovered(translated.translator.coverage());
  });

  it('becomes raw, line by line and with its own bytes, when a record follows', () => {
    const translated = translateLines({ stdout: ['One', '', 'Two', init] });
    const rawEvents = translated.fcmp.filter(({ type }) => type === 'raw.stdout');
    expect(rawEvents.map(({ data, raw_ref }) => [data, raw_ref?.byte_from, raw_ref?.byte_to])).toEqual([
      [{ text: 'One' }, 0, 4],
      [{ text: 'Two' }, 5, 9],
    ]);
    expect(translated.of('conversation.started')).toMatchObject([{ session_id: 'g-1' }]);
  });

  it('is no longer expected after a record', () => {
    const translated = translateLines({ stdout: [init, 'Hello.'], stderr: [SIGN] });
    expect(translated.of('assistant.message.final')).toEqual([]);
    expect(translated.of('raw.stdout')).toEqual([{ text: 'Hello.' }]);
  });
});
