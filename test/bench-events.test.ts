import { describe, expect, it } from 'vitest';
import { splitLog, createAgentLog } from '../bench/agent-log.js';
import { createLineReader } from '../bench/line-reader.js';
import { createTranslator } from '../src/events/index.js';

describe('the logs of the bench', () => {
  it.each([
    ['codex', 'ASCII', 200],
    ['codex', 'CJK', 20_000],
    ['claude', 'ASCII', 20_000],
    ['claude', 'CJK', 400],
  ] as const)('are what %s prints, in %s and lines of about %i bytes', (engine, script, lineBytes) => {
    const log = createAgentLog(engine, script, lineBytes, 100_000);
    const lines = new TextDecoder().decode(log).trimEnd().split('\n').slice(1);
    const average = log.length / lines.length;
    expect(average).toBeGreaterThan(lineBytes * 0.8);
    expect(average).toBeLessThan(lineBytes * 1.3);

    const translator = createTranslator({ engine, runId: 'r', attempt: 1 });
    const emitted = splitLog(log, 4096).flatMap((chunk) => translator.push('stdout', chunk));
    const types = new Set(emitted.map(({ event }) => (typeof event === 'object' && 'type' in event ? event.type : '')));
    expect([...types].filter((type) => /raw|warning|failed/.test(type))).toEqual([]);
    expect(types).toContain('assistant.message.final');
    expect(types).toContain('assistant.tool_call');
  });

  it('are read completely by the baseline loop, wherever they are cut', () => {
    const log = createAgentLog('codex', 'CJK', 200, 20_000);
    const lines = new TextDecoder().decode(log).trimEnd().split('\n');
    const read = createLineReader();
    expect(splitLog(log, 7).reduce((sum, chunk) => sum + read(chunk), 0)).toBe(lines.length);
  });
});
