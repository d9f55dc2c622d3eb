import { describe, expect, it } from 'vitest';
import { DEFAULT_OPTIONS, EXAMPLES } from './examples.js';
import { inspect } from './inspect.js';
import type { Inspection, WorkbenchOptions } from './inspection.js';
import { readSchemaText } from './read-schema-text.js';

function look(text: string, schema: object | null = null, options: Partial<WorkbenchOptions> = {}): Inspection {
  const reading = readSchemaText(schema === null ? '' : JSON.stringify(schema));
  if (!reading.ok) throw new Error(reading.problem.message);
  return inspect(text, reading.schema, { ...DEFAULT_OPTIONS, ...options }).inspection;
}

function lookAtExample(name: string): Inspection & { readonly text: string } {
  const example = EXAMPLES.find((one) => one.name === name);
  if (example === undefined) throw new Error(`no example ${name}`);
  const reading = readSchemaText(example.schemaText);
  if (!reading.ok) throw new Error(reading.problem.message);
  return { ...inspect(example.text, reading.schema, example.options).inspection, text: example.text };
}

const person = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
};
const states = ({ candidates }: Inspection): readonly string[] =>
  candidates.items.map(({ finder, state }) => `${finder} ${state}`);

describe('the candidates of a text', () => {
  it('are listed with the selected one and the reasons for rejecting the others', () => {
    const text = 'First {"x": 1}, then {"name": "Ada", "age": 36}.';
    const { candidates } = look(text, person);
    expect(candidates.items).toEqual([
      {
        finder: 'prose',
        start: 6,
        end: 14,
        state: 'refused',
        code: 'SCHEMA_MISMATCH',
        reason: 'name required, but missing; age required, but missing',
      },
      { finder: 'prose', start: 21, end: 47, state: 'taken', code: null, reason: 'the first that matches' },
    ]);
  });

  it('include those after the selected one: a rival, or one not checked', () => {
    const inspection = look(
      'A {"name": "Ada", "age": 1} or {"name": "Bob", "age": 2} or {"name": "Eve", "age": 3}',
      person,
    );
    expect(states(inspection)).toEqual(['prose taken', 'prose rival', 'prose spare']);
  });

  it('do not include candidates inside the selected one', () => {
    expect(states(look('So: {"name": "Ada", "age": 1, "child": {"name": "Bob", "age": 2}}', person))).toEqual([
      'prose taken',
    ]);
  });

  it('are found without a schema as `parse` finds them: words in prose are not values', () => {
    expect(states(look('Dear {name}, here: {"a": 1}'))).toEqual(['prose taken']);
  });

  it('that could not be parsed are listed with the reason', () => {
    const { outcome, candidates } = look('So: {"a": f(x)}');
    expect(outcome).toMatchObject({ status: 'failed', code: 'SYNTAX' });
    expect(candidates.items[0]).toMatchObject({ finder: 'prose', start: 4, state: 'refused', code: 'SYNTAX' });
  });

  it('that were cut off are marked when selected', () => {
    const { candidates } = look('{"name": "Ada", "age": 3', person, { allowPartial: true });
    expect(candidates.items).toMatchObject([{ state: 'taken', reason: 'truncated; the part before the cut is used' }]);
  });
});

describe('values a schema rejects', () => {
  it('is shown at its place in the value and in the text', () => {
    const text = 'Here: {"name": "Ada", "age": "old"}';
    const { notes, value } = look(text, person);
    expect(notes.items).toEqual([
      {
        kind: 'issue',
        place: 'age',
        message: 'expected integer, got string',
        row: '"age"',
        span: { start: text.indexOf('"old"'), end: text.indexOf('"old"') + 5 },
      },
    ]);
    expect(value?.rows.find(({ key }) => key === '"age"')?.notes).toEqual(notes.items);
  });

  it('is shown at the parent of a missing key', () => {
    const { notes, value } = look('{"name": "Ada"}', person);
    expect(notes.items).toMatchObject([{ place: 'age', span: { start: 0, end: 1 } }]);
    expect(value?.rows[0]?.notes).toEqual(notes.items);
  });

  it('has no span if the text cannot be located', () => {
    const { notes } = look(JSON.stringify({ response: '{"name": "Ada", "age": "old"}' }), {
      type: 'object',
      properties: { age: { type: 'integer' } },
      required: ['age'],
    });
    expect(notes.items.every(({ span }) => span === null || span.start === 0)).toBe(true);
  });
});

it('an alignment change is shown at its place', () => {
  const text = '{"Name": "Ada", "age": "36"}';
  const { outcome, notes } = look(text, person, { align: true });
  expect(outcome).toEqual({ status: 'success', repairLevel: 'schema_aligned' });
  expect(notes.items).toEqual([
    { kind: 'change', place: 'Name', message: 'key_spelling: "Name" → "name"', row: '"name"', span: null },
    { kind: 'change', place: 'age', message: 'number_text: "36" → 36', row: '"age"', span: { start: 23, end: 27 } },
  ]);
});

it('aligning without a schema is allowed and has no effect', () => {
  expect(look('{"a": 1}', null, { align: true }).outcome).toEqual({ status: 'success', repairLevel: 'none' });
});

it('lists stay bounded, whatever the text', () => {
  const { repairs, value } = look(`[${'1 '.repeat(50_000)}]`);
  expect([repairs.items.length, repairs.total, value?.rows.length, value?.cut]).toEqual([200, 1000, 2000, true]);
});

describe('the examples', () => {
  it.each([
    ['A draft in a thinking block, a code fence with syntax errors', 'success', 'deterministic_generic'],
    ['Several candidates, the schema decides', 'success', 'deterministic_generic'],
    ['Cut off in the middle', 'success', 'deterministic_generic'],
    ['Near misses, aligned', 'success', 'schema_aligned'],
    ['An agent’s event stream (recorded)', 'success', 'deterministic_generic'],
    ['Tags in prose (recorded)', 'success', 'none'],
    ['Hostile: prototype keys, escapes, hidden characters', 'success', 'deterministic_generic'],
  ])('%s: %s, %s', (name, status, repairLevel) => {
    expect(lookAtExample(name).outcome).toEqual({ status, repairLevel });
  });

  it('one is refused, with every issue at its place in the text', () => {
    const { outcome, notes, text } = lookAtExample('Refused by the schema');
    expect(outcome).toMatchObject({ status: 'failed', code: 'SCHEMA_MISMATCH' });
    expect(notes.items.map(({ place, span }) => [place, span && text.slice(span.start, span.end)])).toEqual([
      ['verdict', '"maybe"'],
      ['score', '11'],
      ['findings.1.note', '{'],
      ['findings.1.line', '0'],
    ]);
  });

  it('one is a comment', () => {
    expect(lookAtExample('No answer: the text becomes a comment').outcome).toEqual({ status: 'comment' });
  });
});
