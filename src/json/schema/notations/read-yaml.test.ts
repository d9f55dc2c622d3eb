import { describe, expect, test } from 'vitest';
import { parse } from '../../index.js';
import { integer, list, person, record, text, textList } from '../fixtures/schemas.js';
import { fromJsonSchema } from '../from-json-schema.js';

const ann = { name: 'Ann', age: 30 };
const bob = { name: 'Bob', age: 31 };
const people = record({ people: list(person) });
const team = record({ team: record({ lead: person, tags: textList }), size: integer });

function read(answer: string, schema: object): unknown {
  const result = parse(answer, fromJsonSchema(schema), { align: true });
  return result.ok ? result.value : result.status;
}

describe('YAML with nested objects and lists', () => {
  test.each([
    [
      'a list of objects',
      'people:\n  - name: Ann\n    age: 30\n  - name: Bob\n    age: 31',
      people,
      { people: [ann, bob] },
    ],
    [
      'a list in the column of its key',
      'people:\n- name: Ann\n  age: 30\n- name: Bob\n  age: 31',
      people,
      { people: [ann, bob] },
    ],
    [
      'a list as the root, in a fence',
      '```yaml\n---\n- name: "Ann"\n  age: 30\n- name: Bob\n  age: 31\n```',
      list(person),
      [ann, bob],
    ],
    [
      'objects in objects',
      'team:\n  lead:\n    name: Ann\n    age: 30\n  tags:\n    - a\n    - b c\nsize: 2',
      team,
      { team: { lead: ann, tags: ['a', 'b c'] }, size: 2 },
    ],
  ])('reads %s', (_, answer, schema, value) => {
    expect(read(answer, schema)).toEqual(value);
  });

  test.each([
    ['an unknown key', 'people:\n  - name: Ann\n    age: 30\n    town: Rome', people],
    ['a repeated key', 'people:\n  - name: Ann\n    age: 30\n    age: 31', people],
    ['a key without a value', 'people:\n  - name: Ann\n    age:', people],
    ['a line that is neither a key nor an item', 'people:\n  - name: Ann\n    age: 30\nThat is all.', people],
    ['a line in a column that no other line has', 'people:\n  - name: Ann\n      age: 30', people],
    ['a comment that may be content', 'people:\n  - name: Ann # the first\n    age: 30', people],
    ['an alias', 'people:\n  - name: *first\n    age: 30', people],
    [
      'a multi-line string',
      'people:\n  - name: |\n      Ann\n    age: 30',
      record({ people: list(record({ name: text, age: integer })) }),
    ],
  ])('refuses %s', (_, answer, schema) => {
    expect(read(answer, schema)).toBe('failed');
  });

  test('is refused beyond a maximum depth', () => {
    const deep = Array.from({ length: 2000 }, (_, index) => `${' '.repeat(index)}people:`).join('\n');
    expect(read(deep, people)).toBe('failed');
  });
});
