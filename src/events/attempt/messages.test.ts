import { describe, expect, it } from 'vitest';
import { expectCovered } from '../contract/emitted-invariants.contract.js';
import { toBytes } from '../contract/translate-lines.contract.js';
import type { Emitted } from '../protocol/translator-output.js';
import { createTranslator } from '../translator.js';

const MIB = 1024 * 1024;
const timestamp = '2026-11-15T01:22:40.975Z';
const chunk = 'x'.repeat(MIB / 2);

function translate(engine: 'gemini' | 'claude' | 'copilot', records: readonly object[]) {
  const translator = createTranslator({ engine, runId: 'r', attempt: 1, clock: () => 0 });
  const emitted: Emitted[] = records.flatMap((record) => translator.push('stdout', toBytes([record])));
  emitted.push(...translator.end({ exitCode: 0, signal: null }));
  expectCovered(translator.coverage());
  return emitted.flatMap(({ protocol, event }) => (protocol === 'fcmp' ? [event] : []));
}

const listTexts = (events: ReturnType<typeof translate>, type: string) =>
  events.flatMap((event) => (event.type === type ? [(event.data as { text: string }).text] : []));

const session = { session_id: 'c-1', uuid: 'u', parent_tool_use_id: null };
const streamed = (event: object) => ({ type: 'stream_event', event, ...session });
/** The start of a message that Claude prints in chunks. */
const STARTED = [
  streamed({ type: 'message_start', message: { id: 'm', role: 'assistant', content: [] } }),
  streamed({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
];
const addText = (text: string) =>
  streamed({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });

describe('a message that never ends', () => {
  const chunks = ['Hel', 'lo'];
  const copilot = { type: 'assistant.message_delta', id: 'e-1', timestamp, parentId: 'e-0' };
  it.each([
    ['claude', [...STARTED, ...chunks.map((text) => addText(text))]],
    ['copilot', chunks.map((deltaContent) => ({ ...copilot, data: { messageId: 'm', deltaContent } }))],
  ] as const)('is complete at the end of the output of %s', (engine, records) => {
    expect(listTexts(translate(engine, records), 'assistant.message.final')).toEqual(['Hello']);
  });
});

describe('an endless message', () => {
  it('is split into multiple messages without losing text if Gemini prints it', () => {
    const delta = { type: 'message', timestamp, role: 'assistant', content: chunk, delta: true };
    const events = translate('gemini', [
      { type: 'init', timestamp, session_id: 'g-1', model: 'm' },
      ...Array.from({ length: 60 }, () => delta),
    ]);
    const finals = listTexts(events, 'assistant.message.final');
    expect(finals.length).toBeGreaterThan(2);
    expect(Math.max(...finals.map((text) => text.length))).toBeLessThanOrEqual(9 * MIB);
    expect(finals.join('').length).toBe(30 * MIB);
    const refs = events.flatMap(({ type, raw_ref }) => (type === 'assistant.message.final' ? [raw_ref] : []));
    expect(refs.every((ref, index) => index === 0 || ref?.byte_from === refs[index - 1]?.byte_to)).toBe(true);
  });

  it('is split into multiple messages if Claude prints it', () => {
    const events = translate('claude', [...STARTED, ...Array.from({ length: 60 }, () => addText(chunk))]);
    const finals = listTexts(events, 'assistant.message.final');
    expect(finals.length).toBeGreaterThan(2);
    expect(finals.join('').length).toBe(30 * MIB);
  });
});
