import { expect, it } from 'vitest';
import { silentLogger } from '../../base/index.js';
import { createTokenReload } from './serve.js';

it('keeps the tokens of the latest reload if an earlier reload takes longer', async () => {
  const replacedNames: string[] = [];
  let loads = 0;
  let finishFirst = (): void => undefined;
  const firstLoaded = new Promise<void>((resolve) => {
    finishFirst = resolve;
  });
  const reload = createTokenReload({
    env: {},
    isLocal: false,
    async load() {
      loads += 1;
      const name = loads === 1 ? 'old' : 'new';
      if (name === 'old') await firstLoaded;
      return { tokens: [{ name, scopes: ['read'], value: 'x'.repeat(32) }] };
    },
    replace: ({ tokens }) => void replacedNames.push(...tokens.map(({ name }) => name)),
    logger: silentLogger,
  });
  const [first, second] = [reload(), reload()];
  // Without a queue, the second reload has finished here.
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  finishFirst();
  await Promise.all([first, second]);
  expect(replacedNames).toEqual(['old', 'new']);
});
