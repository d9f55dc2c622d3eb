import { describe, expect, it } from 'vitest';
import { expectCovered, selectFcmp } from '../../contract/emitted-invariants.contract.js';
import { describeEngineContract } from '../../contract/engine.contract.js';
import { translateLines as translate, toBytes } from '../../contract/translate-lines.contract.js';
import type { Scenario } from '../../contract/translate-lines.contract.js';
import { createTranslator } from '../../translator.js';

describeEngineContract('generic', new URL('./fixtures/', import.meta.url));

const translateLines = (scenario: Scenario) => translate({ engine: 'generic', ...scenario });

describe('plain text', () => {
  it('is one message, reported line by line and in full', () => {
    const { of } = translateLines({ stdout: ['', 'Hello', '', 'world', ''] });
    expect(of('assistant.message.delta').map(({ text }) => text)).toEqual(['Hello', '\n\nworld']);
    expect(of('assistant.message.final')).toEqual([{ message_id: 'm_1_1', text: 'Hello\n\nworld' }]);
  });

  it('takes hardly more space as events than binary output itself takes', () => {
    for (const byte of [0, 1, 0x1b, 0x7f]) {
      const translator = createTranslator({ engine: 'generic', runId: 'r', attempt: 1 });
      const emitted = [
        ...translator.push('stdout', new Uint8Array(100_000).fill(byte)),
        ...translator.end({ exitCode: 0, signal: null }),
      ];
      expect(JSON.stringify(emitted).length).toBeLessThan(10_000);
      expectCovered(translator.coverage());
    }
    const { of } = translateLines({ stdout: ['a\0b'] });
    expect(of('assistant.message.final')).toEqual([{ message_id: 'm_1_1', text: 'ab' }]);
  });

  it('does not wait forever for more text: endless blank lines close the message', () => {
    const blank = ' '.repeat(1024 * 1024);
    const translator = createTranslator({ engine: 'generic', runId: 'r', attempt: 1 });
    const emitted = translator.push('stdout', toBytes(['Hello', ...Array.from({ length: 8 }, () => blank)]));
    expect(selectFcmp(emitted).at(-1)).toMatchObject({ type: 'assistant.message.final', data: { text: 'Hello' } });
    expectCovered(translator.coverage());
  });

  it('reports its confidence that this is the agent', () => {
    const { fcmp } = translateLines({ stdout: ['Hello'] });
    expect(fcmp.find(({ type }) => type === 'assistant.message.final')?.meta).toEqual({ attempt: 1, confidence: 0.6 });
  });

  it('keeps the log as raw, without a warning', () => {
    const { of, warnings } = translateLines({ stdout: ['Hello'], stderr: ['a log line'] });
    expect(of('raw.stderr')).toEqual([{ text: 'a log line' }]);
    expect(warnings).toEqual(['INCOMPLETE_STATE_CLASSIFICATION']);
  });

  it('does not show how the attempt ended, unless there is an exit code or the done marker', () => {
    expect(translateLines({ stdout: ['Hello'] }).types.at(-1)).toBe('diagnostic.warning');
    expect(translateLines({ stdout: ['Hello'], end: { exitCode: 3 } }).types.at(-1)).toBe('conversation.failed');
    expect(translateLines({ stdout: ['Done.', '{"__SKILL_DONE__": true}'] }).types.at(-1)).toBe(
      'conversation.completed',
    );
  });

  it('is stripped of its colours', () => {
    expect(translateLines({ stdout: ['\u001b[32mgreen\u001b[0m'] }).of('assistant.message.final')[0]?.text).toBe(
      'green',
    );
  });

  it('becomes multiple messages if it never ends', () => {
    const line = 'x'.repeat(1 << 20);
    const { of } = translateLines({ stdout: Array.from({ length: 20 }, () => line) });
    const finals = of('assistant.message.final');
    expect(finals.length).toBeGreaterThan(1);
    expect(finals.reduce((sum, { text }) => sum + text.replaceAll('\n', '').length, 0)).toBe(20 * line.length);
  });
});
