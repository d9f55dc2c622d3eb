import { describe, expect, test } from 'vitest';
import { parse } from '../../index.js';
import { integer, list, person, record, steps, text, textList } from '../fixtures/schemas.js';
import { fromJsonSchema } from '../from-json-schema.js';

const ann = { name: 'Ann', age: 30 };
const bob = { name: 'Bob', age: 31 };

function read(answer: string, schema: object): unknown {
  const result = parse(answer, fromJsonSchema(schema), { align: true });
  return result.ok ? result.value : result.status;
}

describe('tables and lists as answers', () => {
  test.each([
    ['a table with one row', '| name | age |\n|---|---|\n| Ann | 30 |', person, ann],
    [
      'a table with words around it',
      'Here:\n\n| Name | Age |\n|:---|---:|\n| **Ann** | 30 |\n\nAnything else?',
      person,
      ann,
    ],
    ['a table with several rows', '| name | age |\n|---|---|\n| Ann | 30 |\n| Bob | 31 |', list(person), [ann, bob]],
    ['a table without outer pipes', 'name | age\n--- | ---\nAnn | 30\nBob | 31', list(person), [ann, bob]],
    ['a table with one row for each key', '| Field | Value |\n|---|---|\n| name | Ann |\n| age | 30 |', person, ann],
    ['a pipe inside a cell', '| name | age |\n|---|---|\n| A \\| B | 30 |', person, { name: 'A | B', age: 30 }],
    [
      'a table for the only list',
      '| name | age |\n|---|---|\n| Ann | 30 |\n| Bob | 31 |',
      record({ people: list(person) }),
      { people: [ann, bob] },
    ],
    ['CSV lines', 'name,age\nAnn,30\nBob,31', list(person), [ann, bob]],
    ['CSV lines in a fence', '```csv\nname,age\n"Smith, Ann",30\n```', person, { name: 'Smith, Ann', age: 30 }],
    ['a list of lines', '1. Chop\n2. Boil\n\n3. Serve', steps, { steps: ['Chop', 'Boil', 'Serve'] }],
    ['a list of lines that end with a carriage return', '1. Chop\r\n2. Boil', steps, { steps: ['Chop', 'Boil'] }],
    ['members in lines that end with a carriage return', 'Name: Ann\r\nAge: 30', person, ann],
    ['members after a sentence', 'Here is the profile:\n\n- **Name:** Ann\n- **Age:** 30', person, ann],
  ])('reads %s', (_, answer, schema, value) => {
    expect(read(answer, schema)).toEqual(value);
  });

  test.each([
    ['several rows where one is expected', '| name | age |\n|---|---|\n| Ann | 30 |\n| Bob | 31 |', person],
    ['an empty cell', '| name | age |\n|---|---|\n| Ann | |', record({ name: text, age: integer }, ['name'])],
    ['a missing cell', '| name | age |\n|---|---|\n| Ann |', list(person)],
    ['a column that is not in the schema', '| name | age | town |\n|---|---|---|\n| Ann | 30 | Rome |', person],
    ['a total', '| name | age |\n|---|---|\n| Ann | 30 |\n| **Total** | 30 |', list(person)],
    ['omitted rows', '| name | age |\n|---|---|\n| Ann | 30 |\n| ... | ... |', list(person)],
    ['two tables', '| name | age |\n|---|---|\n| Ann | 30 |\n\n| name | age |\n|---|---|\n| Bob | 31 |', person],
    ['an example', 'For example:\n\n| name | age |\n|---|---|\n| Ann | 30 |', person],
    ['a CSV line with a different number of cells', 'name,age\nSmith, Ann,30', person],
    ['a nested list', '1. Chop\n   - finely\n2. Boil', steps],
    ['a list of labels', '- **Time:** 20 minutes\n- **Level:** easy', steps],
    ['a list that apologizes', '- I cannot do that\n- Please ask again', steps],
    ['a list after a sentence about something else', 'You need these tools:\n- a pan\n- a knife', steps],
    ['one item', '- Chop', record({ steps: textList, count: integer })],
    ['one label after a sentence', 'Please note the following:\nname: Ann', record({ name: text })],
    // Patterns that try every division of the blanks would take hours.
    ['a long gap in a line between header and rows', `name | age\n- | -${' '.repeat(90_000)}x`, person],
    ['a long gap before a ruler', `name | age\n${' '.repeat(90_000)}x`, person],
    ['a long gap before a quote', `name,age\n${' '.repeat(90_000)}"`, person],
    ['a long gap inside a member', `name: a${' '.repeat(90_000)}b\nage: 3 x`, person],
    ['many quotes', `name,age\n${',""'.repeat(30_000)}"a`, person],
  ])('refuses %s', (_, answer, schema) => {
    expect(read(answer, schema)).toBe('failed');
  });
});
