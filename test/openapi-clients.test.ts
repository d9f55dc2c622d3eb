import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { expect, it, onTestFinished } from 'vitest';
import { installTools } from '../scripts/install-tools.js';
import { PROJECT, run } from '../scripts/run-tool.js';
import { startCommand } from './start-command.js';
import { makeFolder } from './temporary-folder.js';

const TOKEN = 't'.repeat(32);
const hasPython = spawnSync('python3', ['-c', 'import json, urllib.request']).status === 0;

/** The built server with a token, and a folder where it may run `echo`. */
async function startServer() {
  const folder = await makeFolder({ 'work/x': '' });
  const config = {
    data: join(folder, 'data'),
    roots: [join(folder, 'work')],
    commands: ['echo'],
    sandbox: { use: 'off' },
    tokens: [{ name: 'ci', scopes: ['read', 'run', 'decide'], value: TOKEN }],
  };
  const file = join(await makeFolder({ 'sluice.config.json': JSON.stringify(config) }), 'sluice.config.json');
  const { printed } = startCommand(['serve', '--no-demo', '--port', '0', '--config', file], folder);
  await expect.poll(() => printed.stdout, { timeout: 30_000 }).toMatch(/^http:\/\/\S+\n$/);
  return { url: printed.stdout.trim(), work: join(folder, 'work') };
}

/** The part of the generated client that the round trip uses. */
interface GeneratedClient {
  readonly parsing: { parse(input: { requestBody: object }): Promise<object> };
  readonly runs: {
    startRun(input: { requestBody: object }): Promise<{ id: string }>;
    getRun(input: { id: string }): Promise<{ state: string; result: object | null }>;
    listRuns(input: { limit: number; state: 'ended' }): Promise<{ items: readonly object[] }>;
  };
  readonly orders: { getIssue(input: { ref: string }): Promise<object> };
}

/** A script that uses the generated types: it is compiled, not run. */
const TYPED = `import { Sluice } from './index';
const client = new Sluice({ BASE: 'http://127.0.0.1:7171', TOKEN: 'x' });
const { status, value } = await client.parsing.parse({ requestBody: { text: '{}', profile: 'tagged' } });
const run = await client.runs.getRun({ id: 'x' });
const shown: 'queued' | 'running' | 'waiting' | 'ended' = run.state;
// @ts-expect-error There is no such profile.
await client.parsing.parse({ requestBody: { text: '{}', profile: 'other' } });
// @ts-expect-error A run needs an engine.
await client.runs.startRun({ requestBody: { workdir: "/srv" } });
export { shown, status, value };
`;

it('a TypeScript client generated from the document compiles and makes a round trip', async () => {
  const { url, work } = await startServer();
  const input = (await (await fetch(`${url}/openapi.json`)).json()) as Record<string, unknown>;
  const cache = join(PROJECT, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'openapi-client-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { generate } = createRequire(join(await installTools('tools/clients'), '../package.json'))(
    'openapi-typescript-codegen',
  ) as { readonly generate: (settings: object) => Promise<void> };
  await generate({ input, output: folder, clientName: 'Sluice', useOptions: true, useUnionTypes: true });
  const compilerOptions = {
    module: 'esnext',
    moduleResolution: 'bundler',
    target: 'es2022',
    lib: ['es2022', 'dom'],
    types: [],
    strict: true,
    noEmit: true,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['**/*.ts'] }));
  writeFileSync(join(folder, 'program.ts'), TYPED);
  expect(await run(join(PROJECT, 'node_modules/.bin/tsc'), ['-p', folder], PROJECT)).toMatchObject({
    exitCode: 0,
    stdout: '',
  });

  const outfile = join(folder, 'client.mjs');
  const entryPoints = [join(folder, 'index.ts')];
  await build({ entryPoints, outfile, bundle: true, format: 'esm', platform: 'node', logLevel: 'error' });
  const { Sluice } = (await import(/* @vite-ignore */ pathToFileURL(outfile).href)) as {
    Sluice: new (config: object) => GeneratedClient;
  };
  // Issue references contain slashes and hashes, which this generator does not encode by default.
  const client = new Sluice({ BASE: url, TOKEN, ENCODE_PATH: encodeURIComponent });
  expect(await client.parsing.parse({ requestBody: { text: 'Sure! {"n": 3,}' } })).toMatchObject({ value: { n: 3 } });
  const contract = { schema: { type: 'object', required: ['n'] } };
  const requestBody = { engine: 'command', command: ['echo', '{"n": 4}'], workdir: work, contract };
  const { id } = await client.runs.startRun({ requestBody });
  await expect.poll(async () => client.runs.getRun({ id }), { timeout: 30_000 }).toMatchObject({ state: 'ended' });
  expect(await client.runs.getRun({ id })).toMatchObject({ result: { status: 'success', value: { n: 4 } } });
  expect((await client.runs.listRuns({ limit: 5, state: 'ended' })).items).toHaveLength(1);
  await expect(client.orders.getIssue({ ref: 'acme/shop#1' })).rejects.toMatchObject({
    status: 404,
    body: { code: 'ISSUE_NOT_FOUND' },
  });
});

it.skipIf(!hasPython)('a Python client driven by the document makes a round trip', async () => {
  const { url, work } = await startServer();
  const program = join(PROJECT, 'examples/python-client/main.py');
  const child = spawn('python3', ['-B', program, url, TOKEN, work], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let printed = '';
  child.stdout.on('data', (text: Buffer) => (printed += text.toString()));
  child.stderr.on('data', (text: Buffer) => (printed += text.toString()));
  await once(child, 'close');
  expect(printed.trim().split('\n')).toEqual([
    "success {'n': 3} deterministic_generic",
    'conversation.completed',
    'ended {"n": 4}',
    '1 ok',
    '404 RUN_NOT_FOUND',
    'body.engine is missing.',
  ]);
});
