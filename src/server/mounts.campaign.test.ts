import { symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startWorker } from '../orders/dispatch/start-worker.js';
import { canSandbox } from '../runs/scenarios/fixtures/make-sandbox-site.js';
import { openServer, readJson } from './fixtures/open-server.js';

const SECRET = 'the-secret-of-somebody-else';
const COMMANDS = ['cat', 'sh', 'node', 'git'];

describe.runIf(canSandbox)('requests with the scope `run`', () => {
  it.each(['auto', 'required'] as const)('read no file outside the roots with sandbox %s', async (use) => {
    const token = { name: 'ci', value: 'run-token-0123456789abcdef0123456789ab', scopes: ['read', 'run'] } as const;
    const site = await openServer({ settings: { commands: COMMANDS, tokens: [token] } });
    const { folder, work, data } = site;
    const outside = join(folder, 'elsewhere/secret.txt');
    const files = [outside, join(data, 'sluice.db')];
    for (const file of files) await writeFile(file, SECRET);
    for (const [name, target] of Object.entries({ file: outside, folder: join(folder, 'elsewhere'), all: '/' }))
      await symlink(target, join(work, name));
    const worker = startWorker({
      store: site.store,
      lead: site.lead,
      runs: { data, sandbox: { use, roots: [work] } },
      pollMs: 20,
    });
    onTestFinished(async () => worker.stop({ graceMs: 0 }));
    const headers = { authorization: `Bearer ${token.value}` };
    const requests: object[] = files.flatMap((file) =>
      [
        ['cat', file],
        ['cat', relative(work, file)],
        ['cat', join(work, 'all', file)],
        ['sh', file],
        ['git', '-C', file],
        ['sh', '-c', 'cat "$1" "/proc/1/root$1" "/proc/self/root$1"', 'sh', file],
        ['node', `--env-file=${file}`, '-p', 'JSON.stringify(process.env)'],
        ['node', '-e', `console.log(require('fs').readFileSync('${file}', 'utf8'))`, file],
      ].map((command) => ({ command })),
    );
    const command = ['sh', '-c', 'cat secret.txt elsewhere/secret.txt sluice.db ../elsewhere/secret.txt; true'];
    const folders = [
      folder,
      data,
      '/',
      join(work, '..'),
      join(work, 'folder'),
      join(work, `all${folder}`),
      '/proc/self/cwd',
    ];
    requests.push(...folders.map((workdir) => ({ command, workdir })));
    const reading = { command: ['sh', '-c', `cat ${files.join(' ')}; true`] };
    for (const more of [
      { sandbox: 'off' },
      { sandbox: 'auto' },
      { permissions: 'bypass' },
      { env: ['HOME'] },
      { mounts: ['/'] },
      { roots: ['/'] },
    ])
      requests.push({ ...reading, ...more });
    let executed = 0;
    for (const request of [{ command: ['cat', 'README.md'] }, ...requests]) {
      const response = await site.post('/v1/runs', { engine: 'command', workdir: work, ...request }, headers);
      const body = await readJson(response);
      if (response.status !== 201) continue;
      const path = `/v1/runs/${String(body['id'])}`;
      await expect
        .poll(async () => (await readJson(site.get(path, headers)))['state'], { timeout: 60_000 })
        .toBe('ended');
      const history = await (await site.get(`${path}/history?protocol=fcmp`, headers)).text();
      const record = await (await site.get(path, headers)).text();
      expect(`${JSON.stringify(request)} ${record} ${history}`).not.toContain(SECRET);
      executed += 1;
    }
    expect(executed).toBeGreaterThan(15);
  });
});
