import { type } from 'arktype';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { alignable } from '../../json/schema/index.js';
import { checkRunSpec, RunSpecError } from './check-run-spec.js';

const CODEX = { engine: 'codex', prompt: 'Review it.', workdir: '.' } as const;
const COMMAND = { engine: 'command', command: ['ls'], workdir: '.' } as const;

/** A schema from a library that cannot export it. */
const OPAQUE = { '~standard': { version: 1, vendor: 'own', validate: (value: unknown) => ({ value }) } } as const;

describe('a valid run spec', () => {
  it.each([
    ['only the required fields', CODEX],
    ['a command', COMMAND],
    ['a command with input', { ...COMMAND, prompt: 'x' }],
    [
      'every field',
      {
        ...CODEX,
        contract: { schema: { type: 'object' }, profile: 'tagged', allow_partial: true, align: true },
        mode: 'interactive',
        permissions: 'workspace',
        limits: { time_s: 1.5, idle_s: 1, wait_s: 1, output_bytes: 1, line_bytes: 1, tokens: 1, cost: 0.01 },
        env: ['OPENAI_*', 'HOME'],
        input_files: ['src/a.ts'],
        cache: 'refresh',
        max_retries: 2,
        model: 'gpt-5.5',
        terminal: true,
      },
    ],
    ['undefined fields', { ...CODEX, model: undefined, contract: { profile: undefined }, limits: { cost: undefined } }],
    ['a zod schema', { ...CODEX, contract: { schema: z.object({}), normalizers: [(value: unknown) => value] } }],
    ['a schema that cannot be exported', { ...CODEX, contract: { schema: OPAQUE } }],
    ['a schema that is a function', { ...CODEX, contract: { schema: type({ a: 'number' }) } }],
    ['an alignable schema', { ...CODEX, contract: { schema: alignable(z.object({})), align: true } }],
  ])('can have %s', (_, spec) => {
    expect(checkRunSpec(spec).spec).toBe(spec);
  });

  it('has a schema that validates', () => {
    const { schema } = checkRunSpec({ ...CODEX, contract: { schema: { type: 'string' } } });
    expect(schema?.['~standard'].validate(1)).toHaveProperty('issues');
    expect(schema?.['~standard'].validate('a')).toEqual({ value: 'a' });
  });
});

describe('an invalid run spec', () => {
  it.each([
    ['nothing', undefined, /the spec/],
    ['a list', [], /the spec/],
    ['no engine', { prompt: 'x', workdir: '.' }, /engine/],
    ['an unknown engine', { ...CODEX, engine: 'hal' }, /engine/],
    ['no working folder', { engine: 'codex', prompt: 'x' }, /workdir/],
    ['a blank prompt', { engine: 'codex', workdir: '.', prompt: ' ' }, /prompt: codex needs a prompt/],
    ['no command', { engine: 'command', workdir: '.' }, /command: .* needs an executable/],
    ['a command without an executable name', { ...COMMAND, command: [''] }, /no name/],
    ['a command for another engine', { ...CODEX, command: ['ls'] }, /command: only/],
    ['a zero byte in an argument', { ...COMMAND, command: ['ls', 'a\0b'] }, /command\.1/],
    ['a misspelled key', { ...CODEX, promt: 'x' }, /promt/],
    ['an invalid time', { ...CODEX, limits: { time_s: 0 } }, /limits\.time_s/],
    ['an unknown limit', { ...CODEX, limits: { bytes: 1 } }, /bytes/],
    ['too many retries', { ...CODEX, max_retries: 1e9 }, /max_retries/],
    ['a cache without input files', { ...CODEX, cache: true }, /input_files: caching needs/],
    [
      'a cache with normalizers',
      { ...CODEX, cache: true, input_files: [], contract: { normalizers: [(value: unknown) => value] } },
      /cache: functions cannot/,
    ],
    [
      'a cache with a schema that cannot be exported',
      { ...CODEX, cache: true, input_files: [], contract: { schema: OPAQUE } },
      /cache: functions cannot/,
    ],
    ['an input file outside the working folder', { ...CODEX, input_files: ['a', '../b'] }, /input_files\.1: .*inside/],
    ['an environment variable that is not a name', { ...CODEX, env: ['A=B'] }, /env\.0/],
    ['a schema that is a string', { ...CODEX, contract: { schema: 'x' } }, /contract\.schema: must be/],
    [
      'a JSON Schema with an unknown type',
      { ...CODEX, contract: { schema: { type: 'strnig' } } },
      /contract\.schema: .*type/,
    ],
    ['a schema that cannot align', { ...CODEX, contract: { schema: z.object({}), align: true } }, /cannot align/],
    ['an invalid normalizer', { ...CODEX, contract: { normalizers: ['x'] } }, /contract\.normalizers/],
    ['null as normalizers', { ...CODEX, contract: { normalizers: null } }, /contract\.normalizers/],
    ['an unknown profile', { ...CODEX, contract: { profile: 'loose' } }, /contract\.profile/],
  ])('is rejected: %s', (_, spec, message) => {
    expect(() => checkRunSpec(spec)).toThrow(RunSpecError);
    expect(() => checkRunSpec(spec)).toThrow(message);
    expect(() => checkRunSpec(spec)).toThrow(expect.objectContaining({ code: 'INVALID_RUN_SPEC' }));
  });

  it('lists all issues in its error', () => {
    const spec = { engine: 'command', workdir: '.', cache: true, prompt: 'x' };
    expect(() => checkRunSpec(spec)).toThrow(/command: .*; input_files: /);
  });
});
