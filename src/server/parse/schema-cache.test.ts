import { describe, expect, it } from 'vitest';
import { fromJsonSchema } from '../../json/schema/index.js';
import { createSchemaCache } from './execute-parse.js';

const create = () => createSchemaCache((schema) => fromJsonSchema(schema));

describe('the schema cache', () => {
  it('returns the same compiled schema for equal schemas', () => {
    const compile = create();
    expect(compile({ type: 'string' })).toBe(compile({ type: 'string' }));
    expect(compile({ type: 'string' })).not.toBe(compile({ type: 'number' }));
  });

  it('drops the least recently used schema', () => {
    const compile = create();
    const first = compile({ const: 'first' });
    const second = compile({ const: 'second' });
    for (let index = 0; index < 62; index += 1) compile({ const: index });
    expect(compile({ const: 'first' })).toBe(first);
    compile({ const: 'one more' });
    expect(compile({ const: 'first' })).toBe(first);
    expect(compile({ const: 'second' })).not.toBe(second);
  });

  it('does not cache large schemas', () => {
    const compile = create();
    const large = { const: 'x'.repeat(70_000) };
    expect(compile(large)).not.toBe(compile(large));
  });
});
