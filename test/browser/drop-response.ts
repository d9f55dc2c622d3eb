import type { Page } from 'playwright-core';

/** Drops the response to the next request to `path`, after the server has received the request. */
export async function dropNextResponse(page: Page, path: string): Promise<void> {
  await page.route(
    `**${path}`,
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
}
