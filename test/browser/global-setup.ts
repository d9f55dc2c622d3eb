import type { TestProject } from 'vitest/node';
import { setup as buildProduct } from '../build-product.js';
import { launchChromium } from './launch-chromium.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The debugging endpoint of the browser that all test files share. */
    readonly browserEndpoint: string;
  }
}

/** Builds the product, and starts one browser for all tests. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const [browser] = await Promise.all([launchChromium(), buildProduct()]);
  provide('browserEndpoint', browser.wsEndpoint());
  return async () => browser.close();
}
