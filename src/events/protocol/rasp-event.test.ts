import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { getCategory, isRasp, RASP_TYPES, raspSchema } from './rasp-event.js';
import type { RaspEvent } from './rasp-event.js';

const validate = new Ajv2020({ strict: true, strictRequired: false, allErrors: true }).compile(raspSchema);

const final: RaspEvent<'agent.message.final'> = {
  protocol_version: 'rasp/1.0',
  run_id: 'run-1',
  attempt_number: 1,
  seq: 1,
  ts: '2026-01-01T00:00:00.000Z',
  source: { engine: 'codex', parser: 'codex_ndjson', parser_version: '1', confidence: 1 },
  event: { category: 'agent', type: 'agent.message.final' },
  data: { message_id: 'm_1_1', text: 'Done.' },
  correlation: { session_id: 's', message_id: 'm_1_1' },
  raw_ref: { attempt_number: 1, stream: 'stdout', byte_from: 0, byte_to: 9, encoding: 'utf-8' },
};

describe('the RASP schema', () => {
  test('is the published file', async () => {
    await expect(`${JSON.stringify(raspSchema, null, 2)}\n`).toMatchFileSnapshot('../../../schemas/rasp.json');
  });

  test('lists the types of the design, and no others', () => {
    expect(RASP_TYPES).toEqual([
      'lifecycle.run.started',
      'lifecycle.run.status',
      'lifecycle.run.completed',
      'lifecycle.run.failed',
      'lifecycle.run.canceled',
      'lifecycle.completion.state',
      'agent.message.delta',
      'agent.message.final',
      'agent.reasoning.summary',
      'agent.plan',
      'interaction.user_input.required',
      'interaction.user_input.replied',
      'interaction.permission.required',
      'interaction.permission.replied',
      'tool.call.started',
      'tool.call.completed',
      'tool.call.failed',
      'artifact.created',
      'artifact.modified',
      'artifact.deleted',
      'diagnostic.parser.warning',
      'diagnostic.parser.error',
      'diagnostic.engine.error',
      'raw.stdout',
      'raw.stderr',
      'raw.pty',
    ]);
  });

  test('accepts an event, with or without a reference to bytes', () => {
    expect(validate(final)).toBe(true);
    expect(validate({ ...final, raw_ref: null })).toBe(true);
    expect(
      validate({ ...final, protocol_version: 'rasp/1.1', data: { ...final.data, detail: { any: 'thing' } } }),
    ).toBe(true);
  });

  test.each<[string, object]>([
    ['a missing field', { ...final, seq: undefined }],
    ['an unknown field', { ...final, extra: 1 }],
    ['seq 0', { ...final, seq: 0 }],
    ['a time without milliseconds', { ...final, ts: '2026-01-01T00:00:00Z' }],
    ['an invalid engine', { ...final, source: { ...final.source, engine: 'HAL 9000' } }],
    ['an invalid parser', { ...final, source: { ...final.source, parser: 'Hal text' } }],
    ['a confidence over 1', { ...final, source: { ...final.source, confidence: 1.1 } }],
    ['an unknown type', { ...final, event: { category: 'agent', type: 'agent.sings' } }],
    ['a category that is not the type’s', { ...final, event: { category: 'tool', type: 'agent.message.final' } }],
    ['data of another type', { ...final, event: { category: 'tool', type: 'tool.call.started' } }],
    ['an unknown field in data', { ...final, data: { ...final.data, mood: 'good' } }],
    ['an unknown correlation', { ...final, correlation: { thread: 't' } }],
    ['an unknown stream', { ...final, raw_ref: { ...final.raw_ref, stream: 'stdlog' } }],
    [
      'an unlisted diagnostic code',
      {
        ...final,
        event: { category: 'diagnostic', type: 'diagnostic.parser.warning' },
        data: { code: 'ODD', message: 'odd' },
      },
    ],
  ])('refuses %s', (_, event) => {
    expect(validate(JSON.parse(JSON.stringify(event)))).toBe(false);
  });

  test('reports invalid data only against the schema of its own type', () => {
    validate({ ...final, data: { message_id: 'm_1_1' } });
    expect(validate.errors?.map((error) => `${error.instancePath} ${error.message}`)).toEqual([
      "/data must have required property 'text'",
      ' must match "then" schema',
    ]);
  });
});

describe('isRasp', () => {
  test('narrows data by type', () => {
    const event: RaspEvent = final;
    expect(isRasp(event, 'tool.call.failed')).toBe(false);
    expect(isRasp(event, 'agent.message.final') && event.data.text).toBe('Done.');
  });

  test('infers the exact type of nested data', () => {
    type Evidence = RaspEvent<'lifecycle.completion.state'>['data']['evidence'];
    expectTypeOf<Evidence['exit_code']>().toEqualTypeOf<number | null>();
    expectTypeOf<RaspEvent<'artifact.created'>['data']['made_by']>().toEqualTypeOf<{
      readonly tool_call_id: string;
      readonly name: string;
    } | null>();
    expectTypeOf<RaspEvent['correlation']>().toEqualTypeOf<{
      readonly session_id?: string;
      readonly tool_call_id?: string;
      readonly message_id?: string;
      readonly interaction_id?: string;
    }>();
  });
});

test('the category of a type is its first word', () => {
  expect(getCategory('lifecycle.completion.state')).toBe('lifecycle');
  expectTypeOf(getCategory('raw.pty')).toEqualTypeOf<'raw'>();
});
