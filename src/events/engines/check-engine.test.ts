import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkEngine, defineEngine } from './define-engine.js';
import type { Engine } from './engine.js';
import { codexEngine } from './codex/codex-engine.js';

const ECHO_ENGINE: Engine = {
  name: 'echo',
  parser: 'echo_lines',
  parserVersion: '1',
  framing: 'text',
  guarantees: { session: 'never', endSignal: false },
  detect: () => 0,
  readSession: () => null,
  createReader: (emit) => ({
    json: () => emit({ fact: 'noise' }),
    text: ({ text }) =>
      text.startsWith('answer: ') ? emit({ fact: 'message', text: text.slice(8) }) : emit({ fact: 'noise' }),
    end: () => undefined,
  }),
};

describe('checkEngine', () => {
  it('passes a correct engine', () => {
    expect(checkEngine(ECHO_ENGINE, [{ stdout: 'starting\nanswer: Hello\n', stderr: 'x\n', exitCode: 1 }])).toEqual([]);
  });

  it('passes a built-in engine with a real recording', () => {
    const stdout = readFileSync(new URL('./codex/fixtures/0.166.0/d1-tool-shell.json/stdout.1.log', import.meta.url));
    expect(checkEngine(codexEngine, [{ stdout }])).toEqual([]);
  });

  it('reports a reader that depends on how the bytes are split, as clocks and counters do', () => {
    let readerCount = 0;
    const createReader: Engine['createReader'] = (emit) => {
      readerCount += 1;
      return {
        ...ECHO_ENGINE.createReader(emit),
        text: ({ text }) => emit({ fact: 'message', text: `${readerCount} ${text}` }),
      };
    };
    const problems = checkEngine({ ...ECHO_ENGINE, createReader }, [{ stdout: 'a\n' }]);
    expect(problems).toContain('Recording 0: The events are different if the bytes arrive in chunks of size 1.');
  });

  it('accepts a recording whose only event is an engine error', () => {
    const createReader: Engine['createReader'] = (emit) => ({
      ...ECHO_ENGINE.createReader(emit),
      text: ({ text }) => emit({ fact: 'error', message: text }),
    });
    expect(checkEngine({ ...ECHO_ENGINE, createReader }, [{ stderr: 'no model\n', exitCode: 1 }])).toEqual([]);
  });

  it('reports an engine that recognizes nothing, an engine that throws, and a missing recording', () => {
    expect(checkEngine(ECHO_ENGINE, [{ stdout: 'starting\n' }])).toEqual([
      'Recording 0: Nothing was recognized; every frame is raw.',
    ]);
    const text = (): never => {
      throw new Error('broken reader');
    };
    const broken: Engine = {
      ...ECHO_ENGINE,
      createReader: (emit) => ({ ...ECHO_ENGINE.createReader(emit), text }),
    };
    expect(checkEngine(broken, [{ stdout: 'a\n' }])).toEqual(['Recording 0: The engine threw an error: broken reader']);
    expect(checkEngine(defineEngine(broken), [{ stdout: 'a\n' }])).toEqual([
      'Recording 0: The reader threw an error: broken reader',
      'Recording 0: Nothing was recognized; every frame is raw.',
    ]);
    expect(checkEngine(ECHO_ENGINE, [])).toEqual(['No recordings to check the engine with.']);
  });
});
