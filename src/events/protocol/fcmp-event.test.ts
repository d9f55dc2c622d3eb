import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { FCMP_TYPES, fcmpSchema } from './fcmp-event.js';
import type { FcmpEvent } from './fcmp-event.js';
import type { Usage } from './event-parts.js';

const validate = new Ajv2020({ strict: true, strictRequired: false }).compile(fcmpSchema);

const failed: FcmpEvent<'conversation.failed'> = {
  protocol_version: 'fcmp/1.0',
  run_id: 'run-1',
  seq: 3,
  ts: '2026-01-01T00:00:00.000Z',
  engine: 'gemini',
  type: 'conversation.failed',
  data: {
    error: { category: 'process', code: 'PROCESS_EXIT_NON_ZERO', message: 'gemini exited with code 53' },
    usage: { scope: 'total', input_tokens: 5, output_tokens: 0 },
  },
  meta: { attempt: 1, confidence: 0.9 },
  correlation: {},
  raw_ref: null,
};

describe('the FCMP schema', () => {
  test('is the published file', async () => {
    await expect(`${JSON.stringify(fcmpSchema, null, 2)}\n`).toMatchFileSnapshot('../../../schemas/fcmp.json');
  });

  test('lists the types of the design, and no others', () => {
    expect(FCMP_TYPES).toEqual([
      'conversation.started',
      'conversation.status',
      'assistant.message.delta',
      'assistant.message.final',
      'assistant.reasoning',
      'assistant.tool_call',
      'assistant.plan',
      'user.message',
      'user.input.required',
      'user.input.replied',
      'permission.required',
      'permission.replied',
      'conversation.completed',
      'conversation.failed',
      'artifact.created',
      'artifact.modified',
      'artifact.deleted',
      'diagnostic.warning',
      'raw.stdout',
      'raw.stderr',
    ]);
  });

  test('accepts an event, and a conversation whose session is unknown', () => {
    expect(validate(failed)).toBe(true);
    expect(validate({ ...failed, type: 'conversation.started', data: { session_id: null } })).toBe(true);
  });

  test.each<[string, object]>([
    ['a missing field', { ...failed, meta: undefined }],
    ['an unknown type', { ...failed, type: 'raw.pty', data: { text: '' } }],
    ['data of another type', { ...failed, type: 'assistant.message.final' }],
    [
      'a completion in a different state',
      { ...failed, type: 'conversation.completed', data: { state: 'unknown', reason_code: 'CLEAN_END' } },
    ],
    [
      'a failure reason on a completion',
      { ...failed, type: 'conversation.completed', data: { state: 'completed', reason_code: 'RUN_CANCELED' } },
    ],
    ['an unlisted error category', { ...failed, data: { error: { ...failed.data.error, category: 'weather' } } }],
    [
      'usage with an unknown scope',
      { ...failed, data: { ...failed.data, usage: { input_tokens: 1, output_tokens: 1 } } },
    ],
    [
      'usage where an attempt does not end',
      { ...failed, type: 'conversation.started', data: { session_id: 's', usage: failed.data.usage } },
    ],
  ])('refuses %s', (_, event) => {
    expect(validate(JSON.parse(JSON.stringify(event)))).toBe(false);
  });
});

test('type narrows data', () => {
  const event: FcmpEvent = failed;
  expect(event.type === 'conversation.failed' && event.data.error.category).toBe('process');
  expectTypeOf<FcmpEvent<'assistant.tool_call'>['data']['status']>().toEqualTypeOf<
    'started' | 'completed' | 'failed'
  >();
  expectTypeOf<FcmpEvent<'user.input.required'>['data']['usage']>().toEqualTypeOf<Usage | undefined>();
  expectTypeOf<FcmpEvent<'conversation.started'>['data']>().toMatchObjectType<{
    readonly session_id: string | null;
    readonly model?: string;
  }>();
  expectTypeOf<FcmpEvent['engine_at']>().toEqualTypeOf<string | undefined>();
});
