import type { Page } from 'playwright-core';

/** The next request to `path` reaches the server, and its answer is lost. */
export async function loseAnswer(page: Page, path: string): Promise<void> {
  await page.route(
    `**${path}`,
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
}
