import { describe, expect, test } from 'vitest';
import { fromJsonSchema } from './index.js';
import { parse } from '../parse.js';
import type { AlignableSchema } from '../schema.js';

const verdict = fromJsonSchema({ enum: ['BUY', 'HOLD', 'SELL'] });

/** Returns the value, or the error code. */
function readAnswer(text: string, schema: AlignableSchema, align = true): unknown {
  const result = parse(text, schema, { align });
  return result.ok ? result.value : result.status === 'failed' && result.error.code;
}

describe('align: an answer in plain words', () => {
  test.each([
    ['HOLD', 'HOLD'],
    ['hold', 'HOLD'],
    ['My verdict is SELL.', 'SELL'],
    ['<think>BUY or SELL?</think>\nBUY', 'BUY'],
  ])('%s is %s if the schema expects one of its words', (text, value) => {
    expect(readAnswer(text, verdict)).toBe(value);
  });

  test.each(['BUY or SELL', 'not a BUY', 'I cannot say.', '<think>BUY</think>'])('%s is not an answer', (text) => {
    expect(readAnswer(text, verdict)).toBe('NO_JSON');
  });

  test('the input is the answer if the schema accepts any string', () => {
    expect(readAnswer('Hello there.', fromJsonSchema({ type: 'string' }))).toBe('Hello there.');
  });

  test('invalid JSON is not the answer', () => {
    expect(readAnswer('{"a": oops(}', fromJsonSchema({ type: 'string' }))).toBe('SYNTAX');
  });

  test('a refusal is not a list', () => {
    const list = fromJsonSchema({ type: 'array', items: { type: 'string' } });
    expect(readAnswer('I am sorry, but I cannot do that.', list)).toBe('NO_JSON');
  });

  test.each([{ const: 'TWO' }, { type: 'string', const: 'TWO' }])('a constant is an enum of one: %j', (schema) => {
    expect(readAnswer('The answer is TWO', fromJsonSchema(schema))).toBe('TWO');
    expect(readAnswer('The answer is THREE', fromJsonSchema(schema))).toBe('NO_JSON');
  });

  test('words are not JSON without align', () => {
    expect(readAnswer('HOLD', verdict, false)).toBe('NO_JSON');
  });
});

const integer = { type: 'integer' };
const names = { type: 'array', items: { type: 'string' } };
const level = { enum: ['low', 'high'] };
const ticket = { type: 'string', pattern: String.raw`^[A-Z]{2}-\d+$` };
const day = { type: 'string', format: 'date' };
const profile = {
  type: 'object',
  properties: { name: { type: 'string' }, height_cm: { type: 'integer' } },
  required: ['name', 'height_cm'],
  additionalProperties: false,
};

describe('align: a statement whose only value is the answer', () => {
  test.each([
    ['The museum has 412 paintings.', integer, 412],
    ['The invoice total is $1,284.60.', { type: 'number' }, 1284.6],
    ['Die Miete beträgt 1.250,50 € im Monat.', { type: 'number' }, 1250.5],
    ['Revenue grew to 2.4 billion dollars.', integer, 2_400_000_000],
    ['The flight took 45 minutes.', { type: 'integer', description: 'duration in minutes' }, 45],
    ['一共有两万三千人参加。', integer, 23_000],
    ['मूल्य ₹२,५०० है।', integer, 2500],
    ['The ticket is AB-12, as shown in the header.', ticket, 'AB-12'],
    ['The contract was signed on **2023-11-17** in Oslo.', day, '2023-11-17'],
    ['You can reach the office at info@example.org.', { type: 'string', format: 'email' }, 'info@example.org'],
    ['Priority: high\n\nReasoning: the site was down for all customers.', level, 'high'],
    ['36\n\nQ: What is 3 times 3?\nA: 9', integer, 36],
    ['low\n\nText: All is lost\nLevel: high\n\nText: Fine\nLevel: low', level, 'low'],
    ['These colours are used:\n\n- Red\n- Blue, dark\n\nLet me know if you need more.', names, ['Red', 'Blue, dark']],
    ['The labels:\n\n* `billing`\n* `refund`', names, ['billing', 'refund']],
    ['Net: 100 + 85.40 = 185.40\nVAT: 35.23\n\n**Final answer: 220.63**', { type: 'number' }, 220.63],
    ['- low: the tone is calm\n- high: nothing works\n\nThe second does not hold up.\n\nLevel: high', level, 'high'],
    ['Of all tickets, twenty-three mention the outage.', integer, 23],
    ['The invoice is in francs, so the currency code is **CHF**.', { type: 'string', pattern: '^[A-Z]{3}$' }, 'CHF'],
    ['The book has seven chapters.', integer, 7],
    ['The sum is 312. Let me check: 87 + 215 = 302, not 312. So the final answer is 302.', integer, 302],
    ['It is tempting to say "low", but nothing works. My final rating: high.', level, 'high'],
    ['null\n\nThe text does not mention a spouse.', { anyOf: [{ type: 'integer' }, { type: 'null' }] }, null],
    ['python, testing, flaky-tests', names, ['python', 'testing', 'flaky-tests']],
    ['Oui, le texte mentionne une garantie (article 4).', { type: 'boolean' }, true],
    ['Nein, davon steht nichts im Text.', { type: 'boolean' }, false],
    [
      'The details:\n\n- **Name:** Ann\n- **Height (cm):** 170\n\nLet me know.',
      profile,
      { name: 'Ann', height_cm: 170 },
    ],
    ['### Profile\n\nname = "Ann"\nheight_cm = 170', profile, { name: 'Ann', height_cm: 170 }],
    ['The contract was signed on November 3, 2024.', day, '2024-11-03'],
    ['签署日期为2023年12月25日。', day, '2023-12-25'],
  ])('%s', (text, schema, value) => {
    expect(readAnswer(text, fromJsonSchema(schema))).toEqual(value);
  });

  test.each([
    ['There are 42.', integer],
    ['In 2019 there were 40 members.', integer],
    ['I could not find the number on page 3.', integer],
    ['Please send me invoice 123.', integer],
    ['The invoice has about 40 lines.', integer],
    ['The flight took 45 minutes.', { type: 'integer', description: 'duration in hours' }],
    ['大约有三百人参加。', integer],
    ['The match ended 3:2.', integer],
    ['The model is gpt-4 turbo.', integer],
    ['Error 404: file missing', integer],
    ['The contract was not signed on 2023-11-17.', day],
    ['Signed on 2023-11-17, effective 2024-01-01.', day],
    ['Either AB-12 or AB-13.', ticket],
    ['high\n\nOn second thought it is low.', level],
    ['To answer I need the following:\n\n- the invoice\n- the date', names],
    ['Possible names (not final):\n\n- Red\n- Blue', names],
    ['Red ones:\n\n- Red\n\nBlue ones:\n\n- Navy\n- Sky', names],
    ['Net: 100\nVAT: 35', integer],
    ['One of the seven books has 12 chapters.', integer],
    ['There are 12 or 14. My best guess is 12.', integer],
    ['If all 12 are counted twice, the number would be 24.', integer],
    ['Others found 14. The author claims the number is 12.', integer],
    ['The level is high, I think.', level],
    ['It was high yesterday and low today. The previous level is high.', level],
    ['Sorry, nothing, really', names],
    ['Oui ou non, selon la page.', { type: 'boolean' }],
    ['For example:\n\nname: Ann\nheight_cm: 170', profile],
    ['Old:\n\nname: Ann\nheight_cm: 170\n\nNew:\n\nname: Bob\nheight_cm: 180', profile],
    ['I cannot see it in the file.\n\nLines: 40', integer],
    ['The file is short.\n\nExample: 40', integer],
    ['It is **high** or **low**.', level],
    ['It might be **high**.', level],
    ['Signed on November 3, 2024 or on 4 December 2024.', day],
    ['Some of them:\n\n- Red\n- Blue\n- and so on', names],
  ])('not: %s', (text, schema) => {
    expect(['NO_JSON', 'SYNTAX']).toContain(readAnswer(text, fromJsonSchema(schema)));
  });

  test.each([
    ['{"menge": "2 Stück"}', { menge: 2 }],
    ['{"bp_systolic": "128 mmHg"}', { bp_systolic: 128 }],
  ])('a unit that belongs to what is measured: %s', (text, value) => {
    const [key = ''] = Object.keys(value);
    expect(readAnswer(text, fromJsonSchema({ properties: { [key]: integer }, required: [key] }))).toEqual(value);
  });
});

const person = { properties: { name: { type: 'string' }, city: { type: 'string' } }, required: ['name'] };
const items = { properties: { items: names }, required: ['items'] };

describe('align: valid values that are not answers', () => {
  test.each([
    ['descriptions in place of all values', '{"name": "<name of the customer>", "city": "[your city]"}', person],
    ['names of types in place of all values', '{"name": "string", "city": "string"}', person],
    ['dots and zeros', '{"name": "...", "city": "…", "age": 0}', { ...person, required: ['name', 'age'] }],
    ['descriptions and a format', '{"name": "<name of the customer>", "city": "YYYY-MM-DD"}', person],
    ['descriptions in a list', '["<first item>", "<second item>"]', names],
  ])('a template is refused: %s', (_, text, schema) => {
    expect(readAnswer(text, fromJsonSchema(schema))).toBe('SCHEMA_MISMATCH');
    expect(readAnswer(`For each order I will answer:\n\`\`\`json\n${text}\n\`\`\``, fromJsonSchema(schema))).toBe(
      'SCHEMA_MISMATCH',
    );
  });

  test.each([
    ['a placeholder next to a value', '{"name": "<name of the customer>", "city": "Oslo"}', person],
    ['the name of a type as the only value', '{"name": "string"}', person],
    ['empty objects', '{"a": {}, "b": {}}', { type: 'object' }],
    ['one text of dots', '{"name": "...", "city": "Oslo"}', person],
    ['dots next to zero', '{"name": "...", "age": 0}', { ...person, required: ['name', 'age'] }],
    ['a format', '{"name": "YYYY-MM-DD", "city": "HH:MM"}', person],
    ['the name of a type next to zero', '{"name": "string", "age": 0}', { ...person, required: ['name', 'age'] }],
    ['a region in parentheses', '["Europe", "(Rest of World)"]', names],
    ['tags of HTML', '["<main>", "<section>"]', names],
    ['an empty list', '[]', names],
    ['a quotation that starts with dots', '{"items": ["a", "... and then he left"]}', items],
    ['a title that starts with dots', '["a", "...more than words"]', names],
    ['dots', '["a", "..."]', names],
  ])('a value like any other: %s', (_, text, schema) => {
    expect(readAnswer(text, fromJsonSchema(schema))).toEqual(JSON.parse(text));
  });

  test.each([
    '["a", "b", "... (3 more)"]',
    '{"items": ["a", "… and 12 more"]}',
    '["a", "...and so on"]',
    '["a", "... (remaining names)"]',
    '["a", "[rest of the names omitted for brevity]"]',
    '["a", "and so on"]',
  ])('a list that ends with an item for omitted items is truncated: %s', (text) => {
    expect(readAnswer(text, fromJsonSchema(text.startsWith('[') ? names : items))).toBe('TRUNCATED');
  });
});
