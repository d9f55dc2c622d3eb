import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fromJsonSchema } from '../../json/schema/index.js';
import type { RunContract } from '../../store/records/run-spec.js';
import { judgeOutput } from './judge-output.js';

const LINE = {
  type: 'object',
  properties: { line: { type: 'integer' } },
  required: ['line'],
  additionalProperties: false,
};

async function judge(text: string, contract: RunContract = { schema: LINE }) {
  return judgeOutput(text, contract, fromJsonSchema(LINE, { trusted: false }));
}

describe('an answer that passes', () => {
  it('returns its value', async () => {
    expect(await judge('{"line":3}')).toEqual({
      verdict: 'validated',
      value: { line: 3 },
      repairLevel: 'none',
      repairs: [],
      warnings: [],
    });
  });

  it('can be repaired, which is reported', async () => {
    expect(await judge('Here: ```json\n{"line":3,}\n```')).toMatchObject({
      verdict: 'validated',
      value: { line: 3 },
      repairLevel: 'deterministic_generic',
      repairs: expect.arrayContaining([expect.objectContaining({ kind: 'extra_comma', offset: 23 })]) as unknown,
      warnings: [{ code: 'OUTPUT_REPAIRED_GENERIC' }],
    });
  });

  it('has its done marker stripped first', async () => {
    expect(await judge('{"line":3,"__SKILL_DONE__":true}')).toMatchObject({ value: { line: 3 }, repairLevel: 'none' });
  });

  it('passes through the caller’s normalizers', async () => {
    const normalizers = [(value: unknown) => ({ line: Reflect.get(Object(value) as object, 'row') as unknown })];
    expect(await judge('{"row":4}', { schema: LINE, normalizers })).toMatchObject({ value: { line: 4 } });
  });

  it('can be aligned if the contract allows it', async () => {
    expect(await judge('{"line":"3"}')).toMatchObject({ verdict: 'not_validated' });
    expect(await judge('{"line":"3"}', { schema: LINE, align: true })).toMatchObject({
      verdict: 'validated',
      value: { line: 3 },
      repairLevel: 'schema_aligned',
    });
  });

  it('can be truncated if the contract allows it', async () => {
    expect(await judge('<json>{"line":3', { schema: LINE, profile: 'tagged' })).toMatchObject({
      verdict: 'not_validated',
    });
    expect(await judge('<json>{"line":3', { schema: LINE, profile: 'tagged', allow_partial: true })).toMatchObject({
      verdict: 'validated',
      value: { line: 3 },
    });
  });

  it('can be validated by an asynchronous schema', async () => {
    const schema = z.object({ line: z.number().refine(async (line) => Promise.resolve(line > 2)) });
    expect(await judgeOutput('{"line":3}', { schema }, schema)).toMatchObject({ verdict: 'validated' });
    expect(await judgeOutput('{"line":1}', { schema }, schema)).toMatchObject({ verdict: 'not_validated' });
  });
});

describe('an answer that does not pass', () => {
  it('has the location and the reason', async () => {
    const judged = await judge('{"line":"three"}');
    expect(judged).toMatchObject({ verdict: 'not_validated', error: { code: 'SCHEMA_MISMATCH' } });
    expect(judged).toHaveProperty('reason', expect.stringMatching(/\[SCHEMA_MISMATCH\].*line.*integer/));
  });

  it('can be empty', async () => {
    expect(await judge('')).toMatchObject({ verdict: 'not_validated', error: { code: 'EMPTY_INPUT' } });
  });

  it.each([
    ['prose', 'I could not do it.'],
    ['JSON', '{"line":3}'],
    ['fenced JSON', 'Here:\n```json\n{"line":3}\n```'],
  ])('is a comment in profile tagged without a tag: %s', async (_, text) => {
    expect(await judge(text, { schema: LINE, profile: 'tagged' })).toMatchObject({
      verdict: 'comment',
      comment: text,
      warnings: [{ code: 'OUTPUT_DEGRADED_TO_COMMENT' }],
    });
  });

  it('is reported as a schema error if the schema throws', async () => {
    const schema = z.unknown().refine(() => {
      throw new Error('no database');
    });
    expect(await judgeOutput('{}', { schema }, schema)).toEqual({
      verdict: 'not_validated',
      reason: 'The contract schema threw an error: no database',
      warnings: [],
    });
  });
});

it('without a contract nothing is judged', async () => {
  expect(await judgeOutput('whatever', undefined, undefined)).toEqual({ verdict: 'no_contract' });
});

it('a contract without a schema accepts any JSON', async () => {
  expect(await judgeOutput('{"a":1}', {}, undefined)).toMatchObject({ verdict: 'validated', value: { a: 1 } });
  expect(await judgeOutput('no', { align: true }, undefined)).toMatchObject({ verdict: 'not_validated' });
});
