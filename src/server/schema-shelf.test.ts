import { describe, expect, it } from 'vitest';
import { createSchemaShelf } from './schema-shelf.js';

describe('the shelf of schemas', () => {
  it('gives the same schema for the same words', () => {
    const shelf = createSchemaShelf();
    expect(shelf.take({ type: 'string' })).toBe(shelf.take({ type: 'string' }));
    expect(shelf.take({ type: 'string' })).not.toBe(shelf.take({ type: 'number' }));
  });

  it('lets go of the one not used for longest', () => {
    const shelf = createSchemaShelf();
    const first = shelf.take({ const: 'first' });
    const second = shelf.take({ const: 'second' });
    for (let index = 0; index < 62; index += 1) shelf.take({ const: index });
    expect(shelf.take({ const: 'first' })).toBe(first);
    shelf.take({ const: 'one more' });
    expect(shelf.take({ const: 'first' })).toBe(first);
    expect(shelf.take({ const: 'second' })).not.toBe(second);
  });

  it('keeps no large one', () => {
    const shelf = createSchemaShelf();
    const large = { const: 'x'.repeat(70_000) };
    expect(shelf.take(large)).not.toBe(shelf.take(large));
  });
});
