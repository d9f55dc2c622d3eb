import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { PROJECT } from '../../scripts/run-tool.js';
import { buildSite } from '../../scripts/site/build-site.js';
import { serveFolder, type FolderServer } from '../../scripts/site/serve-folder.js';
import { launchChromium } from '../browser/launch-chromium.js';

/** A built site that is being served. */
export interface ServedSite {
  readonly base: string;
  readonly folder: string;
  readonly url: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** The site at the root of a host, and in a subfolder. */
    readonly sites: readonly ServedSite[];
  }
}

const FOLDERS = [
  { base: '/', folder: join(PROJECT, 'node_modules/.cache/sluice/site-at-root') },
  { base: '/a/b/', folder: join(PROJECT, 'node_modules/.cache/sluice/site-in-folder') },
];

/** Builds the site for two base paths, serves both, and starts a browser for all tests. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const starting = launchChromium();
  const served: (ServedSite & FolderServer)[] = [];
  for (const { base, folder } of FOLDERS) {
    await buildSite({ base, folder });
    served.push({ base, folder, ...(await serveFolder({ folder, base, port: 0 })) });
  }
  const browser = await starting;
  provide('browserEndpoint', browser.wsEndpoint());
  provide(
    'sites',
    served.map(({ base, folder, url }) => ({ base, folder, url })),
  );
  return async () => {
    await browser.close();
    await Promise.all(served.map(async ({ close }) => close()));
  };
}
