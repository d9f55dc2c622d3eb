import { describe, expect, it } from 'vitest';
import { translateLines } from '../contract/translate-lines.contract.js';
import { readEngineFields } from './read-engine-fields.js';

describe('the fields of a record', () => {
  it('have the same names for every engine', () => {
    const claude = { type: 'result', duration_ms: 5, duration_api_ms: 4, num_turns: 2, stop_reason: 'end_turn' };
    expect(readEngineFields(claude).fields).toEqual({
      duration_ms: 5,
      duration_api_ms: 4,
      turns: 2,
      stop_reason: 'end_turn',
    });
    const copilot = { type: 'result', timestamp: '2026-11-15T01:14:16.4Z', usage: { sessionDurationMs: 5 } };
    expect(readEngineFields(copilot)).toEqual({ at: '2026-11-15T01:14:16.400Z', fields: { duration_ms: 5 } });
  });

  it('have times in one form, and seconds of a retry in milliseconds', () => {
    const part = { time: { start: 0, end: 1000 }, responseHeaders: { 'retry-after': '2' } };
    expect(readEngineFields({ type: 'text', timestamp: 5, part })).toEqual({
      at: '1970-01-01T00:00:00.005Z',
      fields: {
        started_at: '1970-01-01T00:00:00.000Z',
        ended_at: '1970-01-01T00:00:01.000Z',
        response_headers: { 'retry-after': '2' },
        retry_after_ms: 2000,
      },
    });
  });

  it('have the times of Codex threads and turns, which are seconds, in the same form', () => {
    const turn = { startedAt: 1, completedAt: 2, status: 'completed' };
    expect(readEngineFields({ method: 'turn/completed', params: { turn }, emittedAtMs: 2500 })).toEqual({
      at: '1970-01-01T00:00:02.500Z',
      fields: { started_at: '1970-01-01T00:00:01.000Z', ended_at: '1970-01-01T00:00:02.000Z' },
    });
  });

  it('do not come from what a tool or the model wrote, nor have values of another type', () => {
    const record = { type: 'tool_use', parameters: { model: 'm', timestamp: 5 }, model: 7, timestamp: 'soon' };
    expect(readEngineFields(record)).toEqual({ at: null, fields: null });
  });

  it('are bounded', () => {
    const { fields } = readEngineFields({ subtype: 'init', type: 'system', tools: Array(2000).fill('tool') });
    expect(JSON.stringify(fields).length).toBeLessThan(4200);
  });
});

describe('FCMP events', () => {
  const at = (second: number): string => `2026-11-15T00:00:0${second}.000Z`;
  const translated = translateLines({
    engine: 'gemini',
    stdout: [
      { type: 'init', timestamp: at(1), session_id: 's', model: 'm' },
      { type: 'message', timestamp: at(2), role: 'user', content: 'Hello' },
      { type: 'message', timestamp: at(3), role: 'assistant', content: 'Hi', delta: true },
      { type: 'result', timestamp: at(4), status: 'success', stats: { duration_ms: 12, total_tokens: 3 } },
    ],
  });

  it('have the time by the clock of the engine', () => {
    expect(translated.fcmp.map(({ type, engine_at }) => [type, engine_at])).toEqual([
      ['conversation.started', at(1)],
      ['user.message', at(2)],
      ['assistant.message.delta', at(3)],
      ['assistant.message.final', undefined],
      ['user.input.required', at(4)],
    ]);
  });

  it('have the prompt, and at the end what the last record of the engine says', () => {
    expect(translated.of('user.message')).toEqual([{ text: 'Hello' }]);
    expect(translated.of('user.input.required')).toMatchObject([{ duration_ms: 12, usage: { total_tokens: 3 } }]);
  });

  it('name why a request is repeated, and when', () => {
    const { of } = translateLines({
      engine: 'claude',
      stdout: [
        { type: 'system', subtype: 'init', session_id: 's', cwd: '/w', claude_code_version: '2', tools: ['Bash'] },
        { type: 'system', subtype: 'api_retry', session_id: 's', retry_delay_ms: 500, error: 'overloaded' },
      ],
    });
    expect(of('conversation.started')).toMatchObject([{ workdir: '/w', engine_version: '2', tools: ['Bash'] }]);
    expect(of('diagnostic.warning')[0]).toMatchObject({ retry_after_ms: 500, error_type: 'overloaded' });
  });
});
