import { expect, it } from 'vitest';
import { loadPeer } from './sink.js';

it('names the package that is missing and how to install it', async () => {
  const name: string = '@octokit/not-there';
  const missing = async () => import(name);
  await expect(loadPeer('@octokit/core', missing)).rejects.toMatchObject({
    code: 'PACKAGE_MISSING',
    message: expect.stringContaining('npm install @octokit/core') as unknown,
  });
});
