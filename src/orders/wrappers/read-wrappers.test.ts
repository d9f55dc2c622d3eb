import { describe, expect, test } from 'vitest';
import { OrdersError } from '../orders-error.js';
import { findAgentEngine, readWrappers, findWrapper } from './wrappers.js';

describe('readWrappers', () => {
  test('returns valid wrappers unchanged', () => {
    const wrappers = {
      lint: { type: 'script', command: ['node', 'lint.mjs', '{work_order}'], inject: 'args', env: ['CI', 'NPM_*'] },
      'codex-large': { type: 'codex-cli', model: 'large', permissions: 'workspace', limits: { time_s: 600 } },
      own: { type: 'of-my-own', command: ['x'] },
    };
    expect(readWrappers(wrappers)).toEqual(wrappers);
    expect(readWrappers({})).toEqual({});
  });

  test.each([
    ['gpu', { placement: 'container', gpu: 1 }, 'a.gpu: needs placement kubernetes'],
    ['image', { image: 'agents:1' }, 'a.image: needs placement container or kubernetes'],
    ['placement', { placement: 'kubernetes' }, 'a.placement: kubernetes is not available; use local or container'],
  ])('refuses %s that the placement has not, or the configuration', (_, fields, problem) => {
    const read = () => readWrappers({ a: { type: 'codex-cli', ...fields } }, ['local', 'container']);
    expect(read).toThrow(expect.objectContaining({ message: expect.stringContaining(problem) }));
  });

  test('lists all problems', () => {
    let thrown: unknown;
    try {
      readWrappers({
        a: { type: 'script' },
        b: { type: 'script', command: 'rm -rf /' },
        c: { type: 'codex-cli', shell: true, inject: 'stdin' },
        d: { type: 'script', command: [' '] },
        e: 7,
        '../f': { type: 'codex-cli' },
        g: { command: ['x'] },
        h: { type: 'codex-cli', limits: { time_s: -1 } },
      });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(OrdersError);
    expect(thrown).toMatchObject({ code: 'INVALID_CONFIG' });
    expect((thrown as OrdersError).problems.map(({ path, message }) => `${path}: ${message}`)).toEqual([
      'a.command: a wrapper of type "script" needs a command',
      'b.command: expected array, got string',
      'c.shell: this property is not allowed',
      'c.inject: expected one of "file", "args", "env"',
      'd.command: must start with an executable',
      'e: expected object, got number',
      '../f: use letters, digits, dots, - and _ for a name, at most 64 characters',
      'g.type: required, but missing',
      'h.limits.time_s: must be more than 0',
    ]);
  });

  test.each([null, [], 'x'])('refuses %j', (value) => {
    expect(() => readWrappers(value)).toThrow('use an object that maps names to wrappers');
  });
});

describe('findWrapper', () => {
  test.each([
    ['codex-cli', 'codex'],
    ['claude-code', 'claude'],
    ['gemini-cli', 'gemini'],
    ['opencode-cli', 'opencode'],
    ['qwen-code', 'qwen'],
    ['copilot-cli', 'copilot'],
    ['iflow-cli', 'iflow'],
  ])('the type %s is the agent %s', (type, engine) => {
    expect(findWrapper(type, {})).toEqual({ type });
    expect(findAgentEngine(type)).toBe(engine);
  });

  test('finds a configured wrapper first, then the agent of that name', () => {
    const configured = readWrappers({ 'codex-cli': { type: 'codex-cli', model: 'large' } });
    expect(findWrapper('codex-cli', configured)).toEqual({ type: 'codex-cli', model: 'large' });
    expect(findWrapper('claude-code', configured)).toEqual({ type: 'claude-code' });
  });

  test.each(['script', 'go-cli', 'toString', '__proto__', ''])('no built-in wrapper %j exists', (name) => {
    expect(() => findWrapper(name, { lint: { type: 'script', command: ['x'] } })).toThrow(
      expect.objectContaining({
        code: 'UNKNOWN_WORKER',
        message: `Unknown wrapper ${JSON.stringify(name)}. Use one of lint, codex-cli, claude-code, gemini-cli, opencode-cli, qwen-code, copilot-cli, iflow-cli, or add it to the setting "wrappers".`,
      }),
    );
  });
});
