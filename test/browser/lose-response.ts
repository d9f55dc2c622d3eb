import type { Page } from 'playwright-core';

/** Lets the next request to `path` reach the server, but drops the response. */
export async function loseResponse(page: Page, path: string): Promise<void> {
  await page.route(
    `**${path}`,
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
}
