import type { Listed, Page } from '../orders/index.js';

const PAGE = 200;

/** The first `limit` items of a list that comes in pages. */
export async function readPages<Item>(
  limit: number,
  read: (page: Page) => Promise<Listed<Item>>,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const page: Listed<Item> = await read({
      limit: Math.min(PAGE, limit - items.length),
      ...(cursor === null ? {} : { cursor }),
    });
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null && items.length < limit);
  return items;
}
