import { describe, expect, it } from 'vitest';
import type { FcmpData, FcmpType } from '../events/index.js';
import { createFcmpEvent } from './fixtures/fcmp-event.js';
import { describeEvent } from './event-printer.js';

const describeOne = <Type extends FcmpType>(type: Type, data: FcmpData<Type>): string =>
  describeEvent(createFcmpEvent(type, data));

describe('the description of an event', () => {
  it('is the message text', () => {
    expect(describeOne('assistant.message.final', { message_id: 'm_1_1', text: 'Done.\n\n' })).toBe('Done.\n');
  });

  it('is empty while a message or a thought is still being written', () => {
    expect(describeOne('assistant.message.delta', { message_id: 'm_1_1', text: 'Do' })).toBe('');
    expect(describeOne('assistant.reasoning', { text: 'hm', partial: true })).toBe('');
  });

  it('shortens tool input', () => {
    const input = { command: 'x'.repeat(1000) };
    const description = describeOne('assistant.tool_call', {
      tool_call_id: 't',
      name: 'shell',
      status: 'started',
      input,
    });
    expect(description).toMatch(/^→ shell \{"command":"x+…\n$/);
    expect(description.length).toBeLessThan(200);
  });

  it('shows how a tool ended', () => {
    const call = { tool_call_id: 't', name: 'shell' };
    expect(describeOne('assistant.tool_call', { ...call, status: 'completed' })).toBe('✓ shell\n');
    expect(describeOne('assistant.tool_call', { ...call, status: 'failed', error: 'exit 2' })).toBe(
      '✗ shell: exit 2\n',
    );
  });

  it('shows how the run ended', () => {
    expect(describeOne('conversation.completed', { state: 'completed', reason_code: 'OUTPUT_VALIDATED' })).toBe(
      '■ completed: OUTPUT_VALIDATED\n',
    );
    const error = { category: 'timeout', code: 'RUN_TIMED_OUT', message: 'after 5 s' } as const;
    expect(describeOne('conversation.failed', { error })).toBe('■ failed: RUN_TIMED_OUT: after 5 s\n');
  });

  it('contains no control sequences from the agent', () => {
    expect(describeOne('assistant.message.final', { message_id: 'm', text: '\u001B[2J\u009B1A' })).toBe(
      '␛[2J<U+009B>1A\n',
    );
    expect(describeOne('artifact.created', { path: 'a\u001B[31m.txt', made_by: null })).toBe('+ a␛[31m.txt\n');
  });
});
