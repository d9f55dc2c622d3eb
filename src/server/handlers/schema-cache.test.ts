import { describe, expect, it } from 'vitest';
import { createSchemaCache } from './parse.js';

describe('the schema cache', () => {
  it('gives the same schema for the same words', () => {
    const schemas = createSchemaCache();
    expect(schemas.compile({ type: 'string' })).toBe(schemas.compile({ type: 'string' }));
    expect(schemas.compile({ type: 'string' })).not.toBe(schemas.compile({ type: 'number' }));
  });

  it('lets go of the one not used for longest', () => {
    const schemas = createSchemaCache();
    const first = schemas.compile({ const: 'first' });
    const second = schemas.compile({ const: 'second' });
    for (let index = 0; index < 62; index += 1) schemas.compile({ const: index });
    expect(schemas.compile({ const: 'first' })).toBe(first);
    schemas.compile({ const: 'one more' });
    expect(schemas.compile({ const: 'first' })).toBe(first);
    expect(schemas.compile({ const: 'second' })).not.toBe(second);
  });

  it('keeps no large one', () => {
    const schemas = createSchemaCache();
    const large = { const: 'x'.repeat(70_000) };
    expect(schemas.compile(large)).not.toBe(schemas.compile(large));
  });
});
