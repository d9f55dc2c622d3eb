import { describe, expect, it } from 'vitest';
import { expectOrderly, expectValid } from '../contract/emitted-invariants.contract.js';
import { codex, toBytes, translateLines } from '../contract/translate-lines.contract.js';
import { getString } from '../reading/record-fields.js';
import { createTranslator } from '../translator.js';
import { defineEngine } from './define-engine.js';
import type { Engine } from './engine.js';

const PARROT: Engine = {
  name: 'parrot',
  parser: 'parrot_ndjson',
  parserVersion: '1',
  framing: 'json',
  promises: { session: 'early', endSignal: true },
  detect: (value) => (getString(value, 'bird') === 'parrot' ? 1 : 0),
  readSession: (value) => getString(value, 'nest'),
  createReader: (report) => ({
    json({ value }) {
      const says = getString(value, 'says');
      if (says === 'boom') throw new Error('broken wing');
      if (says !== null) return report.message(says);
      report.status({ status: 'nested', session_id: getString(value, 'nest') });
      report.endSignal('PARROT_NESTED');
    },
    text: () => report.noise(),
    end: () => undefined,
  }),
};

const LINES = [
  { bird: 'parrot', says: 'Hello.' },
  { bird: 'parrot', nest: 'n-1' },
];

describe('defineEngine', () => {
  it('creates an engine that works like a built-in engine', () => {
    const { emitted, of, fcmp, rasp } = translateLines({
      engine: 'parrot',
      engines: [defineEngine(PARROT)],
      mode: 'auto',
      stdout: LINES,
      end: { verdict: 'no_contract' },
    });
    expectValid(emitted);
    expectOrderly(emitted);
    expect(new Set(fcmp.map(({ engine }) => engine))).toEqual(new Set(['parrot']));
    expect(of('conversation.started')).toEqual([{ session_id: 'n-1' }]);
    expect(of('assistant.message.final')).toMatchObject([{ text: 'Hello.' }]);
    expect(rasp('lifecycle.completion.state')).toMatchObject([{ evidence: { end_signal: 'PARROT_NESTED' } }]);
  });

  it('creates an engine that detection can choose', () => {
    const { fcmp } = translateLines({ engine: 'auto', engines: [defineEngine(PARROT)], stdout: LINES });
    expect(fcmp[0]?.engine).toBe('parrot');
    const other = translateLines({ engine: 'auto', engines: [defineEngine(PARROT)], stdout: [codex.thread()] });
    expect(other.fcmp[0]?.engine).toBe('codex');
  });

  it('keeps a frame as raw, with a warning, if its reader throws, and continues', () => {
    const lines = [{ bird: 'parrot', says: 'boom' }, ...LINES];
    const engines = [defineEngine(PARROT)];
    const { of, emitted, translator } = translateLines({ engine: 'parrot', engines, stdout: lines });
    expectValid(emitted);
    expect(of('diagnostic.warning')).toMatchObject([
      { code: 'UNPARSED_CONTENT_FELL_BACK_TO_RAW', message: 'The reader threw an error: broken wing' },
    ]);
    expect(of('assistant.message.final')).toMatchObject([{ text: 'Hello.' }]);
    expect(translator.coverage().stdout.unclaimed).toEqual([]);
  });

  it('warns if its reader throws at the end of the output', () => {
    const end = (): never => {
      throw new Error('no landing');
    };
    const createReader: Engine['createReader'] = (report) => ({ ...PARROT.createReader(report), end });
    const engines = [defineEngine({ ...PARROT, createReader })];
    const { of, emitted, types } = translateLines({ engine: 'parrot', engines, stdout: LINES });
    expectValid(emitted);
    expectOrderly(emitted);
    expect(of('diagnostic.warning')).toMatchObject([{ message: 'The reader threw an error: no landing' }]);
    expect(types).not.toContain('raw.stdout');
  });

  it('survives code that throws everywhere', () => {
    const fail = (): never => {
      throw new Error('no');
    };
    const reader = { json: fail, text: fail, blank: fail, end: fail };
    const broken = { ...PARROT, detect: fail, detectText: fail, readSession: fail, createReader: () => reader };
    const { emitted } = translateLines({
      engine: 'parrot',
      engines: [defineEngine(broken)],
      stdout: ['x', '', ...LINES],
    });
    expectValid(emitted);
  });

  it.each(['', 'Parrot', 'a b', 'auto', 'command', 'codex', 'x'.repeat(65)])('refuses the name %j', (name) => {
    expect(() => defineEngine({ ...PARROT, name })).toThrow(/INVALID_ENGINE|Invalid engine/u);
  });

  it('refuses an invalid parser', () => {
    expect(() => defineEngine({ ...PARROT, parser: 'no spaces' })).toThrow('Invalid engine "parrot": its parser');
  });

  it('creates an engine that is unknown unless it is passed', () => {
    expect(() => createTranslator({ engine: 'parrot', runId: 'r', attempt: 1 })).toThrow('Unknown engine "parrot"');
    const translator = createTranslator({ engine: 'parrot', engines: [PARROT], runId: 'r', attempt: 1 });
    expect(translator.push('stdout', toBytes(LINES)).length).toBeGreaterThan(0);
  });
});
