import { name, object, orNull, type ObjectSchema, type Schema } from '../../../base/index.js';

/** Selects a page of a list; `cursor` is the `next_cursor` of the previous page. */
export const pageQuery = {
  limit: { type: 'integer', minimum: 1, maximum: 500, description: 'Maximum number of items; 50 by default.' },
  cursor: { type: 'string', maxLength: 500, description: 'The next_cursor of the previous page.' },
} as const;

export function definePage<const Item extends Schema>(items: Item): ListSchema<Item> {
  return object({ items: { type: 'array', items }, next_cursor: orNull(name) });
}

type ListSchema<Item extends Schema> = ObjectSchema<
  {
    readonly items: { readonly type: 'array'; readonly items: Item };
    readonly next_cursor: { readonly anyOf: readonly [typeof name, { readonly type: 'null' }] };
  },
  Record<never, Schema>
>;

export const timeParameter = {
  type: 'string',
  pattern: '^\\d{4}-\\d{2}-\\d{2}(?:T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?Z)?$',
  description: 'A date, or a time in UTC: 2026-11-15 or 2026-11-15T08:00:00Z.',
} as const;

export const search = { type: 'string', minLength: 1, maxLength: 200 } as const;
