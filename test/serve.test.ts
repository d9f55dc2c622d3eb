import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createClient } from '../src/server/client/index.js';
import { startCommand } from './start-command.js';
import { makeFolder } from './temporary-folder.js';

/** Starts the built server in a new folder. */
async function startServe(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  demo: readonly string[] = ['--no-demo'],
) {
  const folder = await makeFolder({ 'work/x': '' });
  const { child, printed, exitCode } = startCommand(['serve', ...demo, ...args], folder, env);
  /** The address it prints. */
  const address = async (): Promise<string> => {
    await expect.poll(() => printed.stdout, { timeout: 30_000 }).toMatch(/^http:\/\/\S+\n$/);
    return printed.stdout.trim();
  };
  /** The user's token. Without a terminal, the server logs only where to find it. */
  const token = async (): Promise<string> => {
    await expect.poll(() => printed.stderr, { timeout: 30_000 }).toContain('Run \\"sluice token\\" for the token.');
    const asked = startCommand(['token'], folder, env);
    expect(await asked.exitCode).toBe(0);
    const value = asked.printed.stdout.trim();
    expect(printed.stderr).not.toContain(value);
    return value;
  };
  const end = async (): Promise<number | null> => {
    child.kill('SIGTERM');
    return exitCode;
  };
  return { printed, address, token, end, exitCode };
}

describe('sluice serve', () => {
  it('executes as many concurrent runs as `--concurrency` allows', async () => {
    const { address, end } = await startServe(['--port', '0', '--concurrency', '7']);
    const url = await address();
    const listWorkers = async (): Promise<unknown> => (await fetch(`${url}/v1/workers`)).json();
    await expect.poll(listWorkers, { timeout: 30_000 }).toMatchObject({ items: [{ capacity: 7 }] });
    expect(await end()).toBe(0);
    const refused = await startServe(['--concurrency', '0']);
    expect(await refused.exitCode).toBe(2);
    expect(refused.printed.stderr).toContain('Use a whole number from 1 to 9999.');
  });

  it('shows its demo only without a configuration file', async () => {
    const data = await makeFolder({});
    const config = await makeFolder({ 'sluice.config.json': JSON.stringify({ data }) });
    const args = ['--port', '0', '--config', join(config, 'sluice.config.json')];
    const first = await startServe(args, {}, []);
    await first.address();
    expect(await first.end()).toBe(0);
    const second = await startServe(args);
    expect(await (await fetch(`${await second.address()}/v1/runs`)).json()).toMatchObject({ items: [] });
    const plain = await startServe(['--port', '0', '--data', await makeFolder({})], {}, []);
    const url = await plain.address();
    const countRuns = async () => ((await (await fetch(`${url}/v1/runs`)).json()) as { items: object[] }).items.length;
    await expect.poll(countRuns, { timeout: 30_000 }).toBeGreaterThan(0);
  });

  it('keeps its data when it is restarted', async () => {
    const data = await makeFolder({ 'work/x': '' });
    const repo_dir = join(data, 'work');
    const config = await makeFolder({ 'sluice.config.json': JSON.stringify({ data, roots: [repo_dir] }) });
    const args = ['--port', '0', '--no-worker', '--config', join(config, 'sluice.config.json')];
    const order = { issue_ref: 'acme/shop#1', role: 'qa', repo_dir, worker: 'codex-cli', instructions: 'x' };
    const first = await startServe(args);
    const url = await first.address();
    const headers = { 'content-type': 'application/json' };
    const refused = await fetch(`${url}/v1/orders`, { method: 'POST', headers, body: JSON.stringify(order) });
    expect(refused.status).toBe(401);
    const submitted = await fetch(`${url}/v1/orders`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${await first.token()}` },
      body: JSON.stringify(order),
    });
    expect(submitted.status).toBe(201);
    expect(await first.end()).toBe(0);
    const second = await startServe(args);
    const found = await fetch(`${await second.address()}/v1/issues/acme%2Fshop%231`);
    expect(await found.json()).toMatchObject({ issue: { state: 'doing' }, orders: [{ state: 'queued' }] });
  });

  it('has a user token, the same at every start, that can be replaced without a restart', async () => {
    const first = await startServe(['--port', '0']);
    const [url, token] = [await first.address(), await first.token()];
    const client = createClient({ url });
    expect(await client.getSession()).toMatchObject({ name: 'local', scopes: ['read', 'run', 'decide'] });
    const second = await startServe(['--port', '0']);
    expect(await second.token()).toBe(token);
    const { printed, exitCode } = startCommand(['token', '--rotate'], await makeFolder({}));
    expect(await exitCode).toBe(0);
    const ask = async (value: string) => fetch(`${url}/v1/session`, { headers: { authorization: `Bearer ${value}` } });
    await expect.poll(async () => (await ask(printed.stdout.trim())).status, { timeout: 30_000 }).toBe(200);
    expect((await ask(token)).status).toBe(401);
    expect(await client.getSession()).toMatchObject({ name: 'local' });
  });

  it('does not listen on other addresses without tokens', async () => {
    const { exitCode, printed } = await startServe(['--host', '0.0.0.0', '--port', '0']);
    expect(await exitCode).toBe(2);
    expect(printed.stderr).toContain('TOKENS_NEEDED');
  });

  it('listens on other addresses with tokens, which are never logged', async () => {
    const value = 'a-token-that-must-not-be-printed';
    const tokens = JSON.stringify([{ name: 'ada', scopes: ['read'], value }]);
    const { address, end, printed } = await startServe(['--host', '0.0.0.0', '--port', '0'], { SLUICE_TOKENS: tokens });
    const url = (await address()).replace('0.0.0.0', '127.0.0.1');
    expect((await fetch(`${url}/v1/runs`)).status).toBe(401);
    const authorization = `Bearer ${value}`;
    expect((await fetch(`${url}/v1/runs`, { headers: { authorization } })).status).toBe(200);
    expect((await fetch(`${url}/v1/runs?cursor=${value}`, { headers: { authorization } })).status).toBe(400);
    await end();
    expect(printed.stderr).not.toContain(value);
  });

  it('reads tokens from a replaced file without a restart', async () => {
    const write = async (value: string) => {
      await writeFile(`${file}.new`, JSON.stringify([{ name: 'ada', scopes: ['read'], value }]));
      await rename(`${file}.new`, file);
    };
    const file = join(await makeFolder({}), 'tokens.json');
    await write('the-first-token-of-ada');
    const args = ['--host', '0.0.0.0', '--port', '0'];
    const { address, end, printed } = await startServe(args, { SLUICE_TOKENS_FILE: file });
    const url = (await address()).replace('0.0.0.0', '127.0.0.1');
    const ask = async (value: string) =>
      (await fetch(`${url}/v1/runs`, { headers: { authorization: `Bearer ${value}` } })).status;
    expect(await ask('the-first-token-of-ada')).toBe(200);
    await write('the-second-token-of-ada');
    await expect.poll(async () => ask('the-second-token-of-ada'), { timeout: 30_000 }).toBe(200);
    expect(await ask('the-first-token-of-ada')).toBe(401);
    // Downloads contain neither of them.
    const made = await fetch(`${url}/v1/parse/case`, {
      method: 'POST',
      headers: { authorization: 'Bearer the-second-token-of-ada', 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'case', text: '["the-first-token-of-ada","the-second-token-of-ada"]' }),
    });
    expect(made.status).toBe(200);
    expect(await made.text()).not.toContain('token-of-ada');
    await writeFile(file, 'not JSON');
    await expect.poll(() => printed.stderr, { timeout: 30_000 }).toContain('the old tokens stay valid');
    expect(await ask('the-second-token-of-ada')).toBe(200);
    await end();
    expect(printed.stderr).not.toContain('token-of-ada');
  });

  it.each([
    ['an invalid port', ['--port', '70000'], {}, 'Use a port'],
    ['tokens that are not JSON', ['--port', '0'], { SLUICE_TOKENS: 'x' }, 'INVALID_CONFIG'],
    [
      'an address that is not ours',
      ['--port', '0', '--host', '203.0.113.1'],
      { SLUICE_TOKENS: '[{"name":"a","scopes":[],"value":"x-x-x-x-x-x-x-x-x"}]' },
      'ADDRESS_UNAVAILABLE',
    ],
  ])('refuses %s', async (_, args, env, words) => {
    const { exitCode, printed } = await startServe(args, env);
    expect(await exitCode).toBe(2);
    expect(printed.stderr).toContain(words);
    expect(printed.stdout).toBe('');
  });
});
