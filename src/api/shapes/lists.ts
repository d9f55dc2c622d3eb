import { name, object, orNull } from '../../base/index.js';
import type { ObjectSchema, Schema } from '../../base/index.js';

/** How many items a page has; `cursor` is what the last page gave as `next_cursor`. */
export const pageQuery = {
  limit: { type: 'integer', minimum: 1, maximum: 500, description: 'How many items; 50 by default.' },
  cursor: { type: 'string', maxLength: 500, description: 'next_cursor of the page before.' },
} as const;

/** One page of a list. */
export function listOf<const Item extends Schema>(items: Item): ListSchema<Item> {
  return object({ items: { type: 'array', items }, next_cursor: orNull(name) });
}

type ListSchema<Item extends Schema> = ObjectSchema<
  {
    readonly items: { readonly type: 'array'; readonly items: Item };
    readonly next_cursor: { readonly anyOf: readonly [typeof name, { readonly type: 'null' }] };
  },
  Record<never, Schema>
>;
