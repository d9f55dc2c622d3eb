import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bundleProgram } from '../../test/bundle-program.js';
import { makeServerSite } from './fixtures/server-site.js';

const JSON_TYPE = { 'content-type': 'application/json' };

/** Two servers, each with a worker, on one SQLite file. */
async function startTwo() {
  const site = await makeServerSite();
  await site.start();
  const program = await bundleProgram(new URL('./fixtures/server-program.js', import.meta.url));
  const second = program.start([site.folder, '0']);
  const [output] = (await once(second.stdout, 'data')) as [Buffer];
  return { folder: site.folder, urls: [site.url, output.toString().trim()] };
}

describe('two servers on one SQLite file', () => {
  it('answer pairs of requests that write at the same time, while they execute them', async () => {
    const { folder, urls } = await startTwo();
    const ids = new Set<string>();
    for (let pair = 0; pair < 30; pair += 1) {
      const command = ['/bin/sh', '-c', 'echo done'];
      const body = JSON.stringify({ engine: 'command', command, workdir: join(folder, 'work', String(pair % 8)) });
      const responses = await Promise.all(
        urls.map(async (url) =>
          fetch(`${url}/v1/runs`, { method: 'POST', headers: JSON_TYPE, body, signal: AbortSignal.timeout(15_000) }),
        ),
      );
      for (const response of responses) {
        expect(response.status).toBe(201);
        ids.add(((await response.json()) as { id: string }).id);
      }
    }
    expect(ids.size).toBe(60);
    for (const [index, id] of [...ids].entries()) {
      const read = async (): Promise<unknown> => (await fetch(`${urls[index % 2]}/v1/runs/${id}`)).json();
      await expect.poll(read, { timeout: 60_000 }).toMatchObject({ state: 'ended', result: { status: 'success' } });
    }
  });
});
