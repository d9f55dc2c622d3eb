import { DEFAULT_OPTIONS, EXAMPLES } from './examples.js';
import { describe, expect, it } from 'vitest';
import { inspect } from './inspect.js';
import type { Inspection, WorkbenchOptions } from './inspection.js';
import { readSchemaText } from './locate-path.js';

function inspectText(text: string, schema: object | null = null, options: Partial<WorkbenchOptions> = {}): Inspection {
  const reading = readSchemaText(schema === null ? '' : JSON.stringify(schema));
  if (!reading.ok) throw new Error(reading.problem.message);
  return inspect(text, reading.schema, { ...DEFAULT_OPTIONS, ...options }).inspection;
}

function inspectExample(name: string): Inspection & { readonly text: string } {
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

describe('the candidates', () => {
  it('are listed with the selected one and why the others were rejected', () => {
    const text = 'First {"x": 1}, then {"name": "Ada", "age": 36}.';
    const { candidates } = inspectText(text, person);
    expect(candidates.items).toEqual([
      {
        finder: 'prose',
        start: 6,
        end: 14,
        state: 'rejected',
        code: 'SCHEMA_MISMATCH',
        reason: 'name required, but missing; age required, but missing',
      },
      {
        finder: 'prose',
        start: 21,
        end: 47,
        state: 'selected',
        code: null,
        reason: 'SELECTED_BEST',
      },
    ]);
  });

  it('include those after the selected one: an alternative that also matches, and an unchecked one', () => {
    const inspection = inspectText(
      'Answer: {"name": "Ada", "age": 1}, not {"name": "Bob", "age": 2}, not {"name": "Eve", "age": 3}',
      person,
    );
    expect(states(inspection)).toEqual(['prose selected', 'prose alternative', 'prose unchecked']);
  });

  it('include earlier candidates that also match, even without a schema', () => {
    const inspection = inspectText('First: {"a": 1}. Sorry, actually it should be {"a": 2}', undefined);
    expect(states(inspection)).toEqual(['prose alternative', 'prose selected']);
  });

  it('do not include candidates inside the selected one', () => {
    expect(states(inspectText('So: {"name": "Ada", "age": 1, "child": {"name": "Bob", "age": 2}}', person))).toEqual([
      'prose selected',
    ]);
  });

  it('are found without a schema as `parse` finds them: words in prose are not values', () => {
    expect(states(inspectText('Dear {name}, here: {"a": 1}'))).toEqual(['prose selected']);
  });

  it('that could not be parsed are listed with the reason', () => {
    const { outcome, candidates } = inspectText('So: {"a": f(x)}');
    expect(outcome).toMatchObject({ status: 'failed', code: 'SYNTAX' });
    expect(candidates.items[0]).toMatchObject({ finder: 'prose', start: 4, state: 'rejected', code: 'SYNTAX' });
  });

  it('that were truncated are marked when selected', () => {
    const { candidates } = inspectText('{"name": "Ada", "age": 3', person, { allowPartial: true });
    expect(candidates.items).toMatchObject([{ state: 'selected', reason: 'SELECTED_PART' }]);
  });
});

describe('a value that the schema rejects', () => {
  it('has a note at its location in the value and in the input', () => {
    const text = 'Here: {"name": "Ada", "age": "old"}';
    const { notes, value } = inspectText(text, person);
    expect(notes.items).toEqual([
      {
        kind: 'issue',
        path: 'age',
        message: 'expected integer, got string',
        row: '"age"',
        span: { start: text.indexOf('"old"'), end: text.indexOf('"old"') + 5 },
      },
    ]);
    expect(value?.rows.find(({ key }) => key === '"age"')?.notes).toEqual(notes.items);
  });

  it('has the note about a missing key at the parent of the key', () => {
    const { notes, value } = inspectText('{"name": "Ada"}', person);
    expect(notes.items).toMatchObject([{ path: 'age', span: { start: 0, end: 1 } }]);
    expect(value?.rows[0]?.notes).toEqual(notes.items);
  });

  it('has a note without a span if it cannot be located in the input', () => {
    const { notes } = inspectText(JSON.stringify({ response: '{"name": "Ada", "age": "old"}' }), {
      type: 'object',
      properties: { age: { type: 'integer' } },
      required: ['age'],
    });
    expect(notes.items.every(({ span }) => span === null || span.start === 0)).toBe(true);
  });
});

it('an alignment change is shown at its location', () => {
  const text = '{"Name": "Ada", "age": "36"}';
  const { outcome, notes } = inspectText(text, person, { align: true });
  expect(outcome).toEqual({ status: 'success', repairLevel: 'schema_aligned' });
  expect(notes.items).toEqual([
    { kind: 'change', path: 'Name', message: 'key_spelling: "Name" → "name"', row: '"name"', span: null },
    { kind: 'change', path: 'age', message: 'number_text: "36" → 36', row: '"age"', span: { start: 23, end: 27 } },
  ]);
});

it('aligning without a schema is allowed and has no effect', () => {
  expect(inspectText('{"a": 1}', null, { align: true }).outcome).toEqual({ status: 'success', repairLevel: 'none' });
});

it('the lists are limited for any input', () => {
  const { repairs, value } = inspectText(`[${'1 '.repeat(50_000)}]`);
  expect([repairs.items.length, repairs.total, value?.rows.length, value?.isTruncated]).toEqual([
    200,
    1000,
    2000,
    true,
  ]);
});

describe('the examples', () => {
  it.each([
    ['Draft in a thinking block, code fence with syntax errors', 'success', 'deterministic_generic'],
    ['Multiple candidates, the schema decides', 'success', 'deterministic_generic'],
    ['Cut off in the middle', 'success', 'deterministic_generic'],
    ['Near misses, aligned', 'success', 'schema_aligned'],
    ['Agent event stream (recorded)', 'success', 'deterministic_generic'],
    ['Tags in prose (recorded)', 'success', 'none'],
    ['Malicious: prototype keys, escapes, hidden characters', 'success', 'deterministic_generic'],
  ])('"%s" has the status %s and the repair level %s', (name, status, repairLevel) => {
    expect(inspectExample(name).outcome).toEqual({ status, repairLevel });
  });

  it('include one that the schema rejects, with every issue at its location in the input', () => {
    const { outcome, notes, text } = inspectExample('Rejected by the schema');
    expect(outcome).toMatchObject({ status: 'failed', code: 'SCHEMA_MISMATCH' });
    expect(notes.items.map(({ path, span }) => [path, span && text.slice(span.start, span.end)])).toEqual([
      ['verdict', '"maybe"'],
      ['score', '11'],
      ['findings.1.note', '{'],
      ['findings.1.line', '0'],
    ]);
  });

  it('include one that becomes a comment', () => {
    expect(inspectExample('No answer: the output becomes a comment').outcome).toEqual({ status: 'comment' });
  });
});
