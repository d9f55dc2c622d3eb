import { describe, expect, it } from 'vitest';
import { expectInOrder, expectValid } from '../contract/emitted-invariants.contract.js';
import { codex, toBytes, translateLines } from '../contract/translate-lines.contract.js';
import { get } from '../reading/record-fields.js';
import { createTranslator } from '../translator.js';
import { defineEngine } from './define-engine.js';
import type { Engine } from './engine.js';

const ECHO_ENGINE: Engine = {
  name: 'echo',
  parser: 'echo_ndjson',
  parserVersion: '1',
  framing: 'json',
  guarantees: { session: 'early', endSignal: true },
  detect: (value) => (get.string(value, 'agent') === 'echo' ? 1 : 0),
  readSession: (value) => get.string(value, 'session'),
  createReader: (emit) => ({
    json({ value }) {
      const text = get.string(value, 'text');
      if (text === 'boom') throw new Error('broken reader');
      if (text !== null) return emit({ fact: 'message', text });
      emit({ fact: 'status', status: 'session.ended', session_id: get.string(value, 'session') });
      emit({ fact: 'end_signal', signal: 'ECHO_SESSION_ENDED' });
    },
    text: () => emit({ fact: 'noise' }),
    end: () => undefined,
  }),
};

const LINES = [
  { agent: 'echo', text: 'Hello.' },
  { agent: 'echo', session: 'n-1' },
];

describe('defineEngine', () => {
  it('creates an engine that works like a built-in engine', () => {
    const { emitted, of, fcmp, rasp } = translateLines({
      engine: 'echo',
      engines: [defineEngine(ECHO_ENGINE)],
      mode: 'auto',
      stdout: LINES,
      end: { verdict: 'no_contract' },
    });
    expectValid(emitted);
    expectInOrder(emitted);
    expect(new Set(fcmp.map(({ engine }) => engine))).toEqual(new Set(['echo']));
    expect(of('conversation.started')).toEqual([{ session_id: 'n-1' }]);
    expect(of('assistant.message.final')).toMatchObject([{ text: 'Hello.' }]);
    expect(rasp('lifecycle.completion.state')).toMatchObject([{ evidence: { end_signal: 'ECHO_SESSION_ENDED' } }]);
  });

  it('creates an engine that detection can choose', () => {
    const { fcmp } = translateLines({ engine: 'auto', engines: [defineEngine(ECHO_ENGINE)], stdout: LINES });
    expect(fcmp[0]?.engine).toBe('echo');
    const other = translateLines({ engine: 'auto', engines: [defineEngine(ECHO_ENGINE)], stdout: [codex.thread()] });
    expect(other.fcmp[0]?.engine).toBe('codex');
  });

  it('keeps a frame as raw, with a warning, if its reader throws, and continues', () => {
    const lines = [{ agent: 'echo', text: 'boom' }, ...LINES];
    const engines = [defineEngine(ECHO_ENGINE)];
    const { of, emitted, translator } = translateLines({ engine: 'echo', engines, stdout: lines });
    expectValid(emitted);
    expect(of('diagnostic.warning')).toMatchObject([
      { code: 'UNPARSED_CONTENT_FELL_BACK_TO_RAW', message: 'The reader threw an error: broken reader' },
    ]);
    expect(of('assistant.message.final')).toMatchObject([{ text: 'Hello.' }]);
    expect(translator.coverage().stdout.unclaimed).toEqual([]);
  });

  it('warns if its reader throws at the end of the output', () => {
    const end = (): never => {
      throw new Error('unexpected end');
    };
    const createReader: Engine['createReader'] = (emit) => ({ ...ECHO_ENGINE.createReader(emit), end });
    const engines = [defineEngine({ ...ECHO_ENGINE, createReader })];
    const { of, emitted, types } = translateLines({ engine: 'echo', engines, stdout: LINES });
    expectValid(emitted);
    expectInOrder(emitted);
    expect(of('diagnostic.warning')).toMatchObject([{ message: 'The reader threw an error: unexpected end' }]);
    expect(types).not.toContain('raw.stdout');
  });

  it('survives code that throws everywhere', () => {
    const fail = (): never => {
      throw new Error('no');
    };
    const reader = { json: fail, text: fail, blank: fail, end: fail };
    const broken = { ...ECHO_ENGINE, detect: fail, detectText: fail, readSession: fail, createReader: () => reader };
    const { emitted } = translateLines({
      engine: 'echo',
      engines: [defineEngine(broken)],
      stdout: ['x', '', ...LINES],
    });
    expectValid(emitted);
  });

  it.each(['', 'Echo', 'a b', 'auto', 'command', 'codex', 'x'.repeat(65)])('refuses the name %j', (name) => {
    expect(() => defineEngine({ ...ECHO_ENGINE, name })).toThrow(/INVALID_ENGINE|Invalid engine/u);
  });

  it('refuses an invalid parser', () => {
    expect(() => defineEngine({ ...ECHO_ENGINE, parser: 'no spaces' })).toThrow('Invalid engine "echo": its parser');
  });

  it('creates an engine that is unknown unless it is passed', () => {
    expect(() => createTranslator({ engine: 'echo', runId: 'r', attempt: 1 })).toThrow('Unknown engine "echo"');
    const translator = createTranslator({ engine: 'echo', engines: [ECHO_ENGINE], runId: 'r', attempt: 1 });
    expect(translator.push('stdout', toBytes(LINES)).length).toBeGreaterThan(0);
  });
});
