import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PROJECT } from '../scripts/run-tool.js';
import { BUNDLED_MAIN, MAIN } from './command-stage.js';
import { startCommand } from './start-command.js';
import { makeFolder } from './temporary-folder.js';

const AGENT = join(PROJECT, 'examples/agents/json-agent.mjs');

/** Creates a folder with a worker that reports success, and one whose output cannot be read. */
async function makeSite(more: object = {}) {
  const folder = await makeFolder({ 'work/x': '' });
  const work = join(folder, 'work');
  const wrappers = {
    greeter: { type: 'script', command: [process.execPath, AGENT], inject: 'file' },
    mumbler: { type: 'script', command: ['echo', 'well'], inject: 'file' },
  };
  const config = { data: join(folder, 'data'), roots: [work], wrappers, sandbox: { use: 'off' }, ...more };
  const file = await makeFolder({ 'sluice.config.json': JSON.stringify(config) });
  return { folder, work, config: join(file, 'sluice.config.json') };
}

/** Connects a real client of the protocol to the built command. */
async function connect(args: readonly string[], { cwd, env = {} }: { cwd: string; env?: Record<string, string> }) {
  const inherited = Object.entries(process.env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]));
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BUNDLED_MAIN, 'mcp', ...args],
    cwd,
    env: { ...Object.fromEntries(inherited), ...env },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  onTestFinished(async () => client.close());
  /** Calls a tool. The client itself validates the result against the tool's schema. */
  const call = async (name: string, input: Record<string, unknown> = {}) => {
    const { structuredContent, isError = false, content, _meta } = await client.callTool({ name, arguments: input });
    return { result: structuredContent as Record<string, never> | undefined, isError, content, meta: _meta };
  };
  const listNames = async () => (await client.listTools()).tools.map(({ name }) => name);
  return { client, call, listNames };
}

const order = (site: { readonly work: string }, worker: string, issue = 1) => ({
  issue_ref: `acme/shop#${issue}`,
  role: 'backend',
  repo_dir: site.work,
  worker,
  instructions: 'Greet.',
});

/** Returns the id of the first inbox item. */
function findItem({ result }: { readonly result: object | undefined }): string {
  const { items = [] } = (result ?? {}) as { readonly items?: readonly { readonly id: string }[] };
  return items[0]?.id ?? '';
}

const failure = (code: string) => ({
  isError: true,
  meta: { 'sluice/error': { code } },
  content: [{ type: 'text', text: expect.stringMatching(new RegExp(`^${code}: `)) }],
});

describe('sluice mcp on the data folder', () => {
  it('parses, delegates an order, waits, reads its result and follows its run', async () => {
    const site = await makeSite();
    const { client, call } = await connect(['--config', site.config], { cwd: site.folder });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'parse',
      'list_capabilities',
      'delegate_order',
      'wait_for_run',
      'read_result',
      'follow_run',
      'list_inbox',
    ]);
    for (const { inputSchema, outputSchema } of tools) {
      expect([inputSchema['type'], outputSchema?.['type']]).toEqual(['object', 'object']);
    }
    const schema = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } };
    expect(await call('parse', { text: 'Sure: {"n": 3,}', schema })).toMatchObject({
      result: { status: 'success', value: { n: 3 }, repair_level: 'deterministic_generic' },
    });
    expect((await call('list_capabilities')).result).toMatchObject({
      roots: [site.work],
      workers: expect.arrayContaining([{ name: 'greeter', type: 'script' }]),
    });
    const { result: submittedOrder } = await call('delegate_order', order(site, 'greeter'));
    expect(submittedOrder).toMatchObject({ issue_ref: 'acme/shop#1', worker: 'greeter', rivals: [] });
    const { run } = submittedOrder ?? {};
    const waitResult = await call('wait_for_run', { run, timeout_s: 50 });
    expect(waitResult.result).toMatchObject({
      run,
      done: true,
      state: 'ended',
      order: { issue_ref: 'acme/shop#1' },
      decision: { action: 'advance' },
      work_result: { status: 'ok' },
    });
    expect(await call('read_result', { run })).toMatchObject({ result: waitResult.result });
    const first = await call('follow_run', { run, limit: 1 });
    expect(first.result).toMatchObject({ done: false });
    const types: string[] = [];
    let cursor: string | undefined;
    for (let isDone = false; !isDone;) {
      const page = await call('follow_run', { run, limit: 2, wait_s: 5, ...(cursor === undefined ? {} : { cursor }) });
      const {
        events,
        done,
        cursor: next,
      } = page.result as unknown as {
        events: { type: string }[];
        done: boolean;
        cursor: string;
      };
      types.push(...events.map(({ type }) => type));
      [isDone, cursor] = [done, next];
    }
    expect(types.at(-1)).toBe('conversation.completed');
    expect(await call('list_inbox')).toMatchObject({ result: { items: [], next_cursor: null } });
  });

  it('lists what waits for a user, without a tool that decides', async () => {
    const site = await makeSite();
    const { call, listNames } = await connect(['--config', site.config], { cwd: site.folder });
    const { result } = await call('delegate_order', order(site, 'mumbler'));
    await call('wait_for_run', { run: result?.['run'], timeout_s: 50 });
    const inbox = await call('list_inbox', { issue_ref: 'acme/shop#1' });
    expect(inbox.result).toMatchObject({ items: [{ issue_ref: 'acme/shop#1', result_code: 'output_unparseable' }] });
    expect(await listNames()).not.toContain('resolve_item');
    const id = findItem(inbox);
    expect(await call('resolve_item', { id, action: 'reject', why: 'x' })).toMatchObject(
      failure('MCP_INVALID_ARGUMENTS'),
    );
  });

  it('responds to invalid calls with a code, and continues', async () => {
    const site = await makeSite();
    const { call } = await connect(['--config', site.config, '--no-worker'], { cwd: site.folder });
    expect(await call('no_such_tool')).toMatchObject(failure('MCP_INVALID_ARGUMENTS'));
    expect(await call('parse')).toMatchObject(failure('MCP_INVALID_ARGUMENTS'));
    expect(await call('parse', { text: 1, other: true })).toMatchObject(failure('MCP_INVALID_ARGUMENTS'));
    expect(await call('parse', { text: 'x'.repeat(5 * 1024 * 1024) })).toMatchObject(failure('MCP_INVALID_ARGUMENTS'));
    expect(await call('parse', { text: JSON.stringify(['x'.repeat(2 * 1024 * 1024)]) })).toMatchObject(
      failure('ANSWER_TOO_LARGE'),
    );
    expect(await call('parse', { text: '{}', schema: { type: 'nonsense' } })).toMatchObject(failure('INVALID_SCHEMA'));
    expect(await call('read_result', { run: 'unknown' })).toMatchObject(failure('RUN_NOT_FOUND'));
    expect(await call('read_result', { run: '../../etc/passwd' })).toMatchObject(failure('RUN_NOT_FOUND'));
    expect(await call('follow_run', { run: 'unknown' })).toMatchObject(failure('RUN_NOT_FOUND'));
    expect(await call('follow_run', { run: 'unknown', cursor: '-1' })).toMatchObject(failure('MCP_INVALID_ARGUMENTS'));
    expect(await call('wait_for_run', { run: 'x', timeout_s: 1e9 })).toMatchObject(failure('MCP_INVALID_ARGUMENTS'));
    expect(await call('list_inbox', { cursor: 'nonsense' })).toMatchObject(failure('INVALID_CURSOR'));
    expect(await call('delegate_order', order(site, 'nobody'))).toMatchObject(failure('UNKNOWN_WORKER'));
    const outside = { ...order(site, 'greeter'), repo_dir: '/etc' };
    expect(await call('delegate_order', outside)).toMatchObject(failure('FOLDER_NOT_ALLOWED'));
    const { result } = await call('delegate_order', { ...order(site, 'greeter'), request_id: 'r-1' });
    const resubmitted = await call('delegate_order', { ...order(site, 'greeter'), request_id: 'r-1' });
    expect(resubmitted.result).toEqual(result);
    const waitResult = await call('wait_for_run', { run: result?.['run'], timeout_s: 0.2 });
    expect(waitResult.result).toMatchObject({
      done: false,
      state: 'queued',
      next: expect.stringContaining('wait_for_run'),
    });
    expect(await call('parse', { text: '[1]' })).toMatchObject({ result: { value: [1] } });
  });

  it('prints only the protocol, survives invalid messages, and exits when its input is closed', async () => {
    const site = await makeSite();
    const { child, printed, exitCode } = startCommand(['mcp', '--config', site.config], site.folder);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const send = (message: object): void =>
      void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const clientInfo = { name: 'old', version: '1' };
    send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
    const receive = async (): Promise<unknown> => JSON.parse(String((await lines.next()).value)) as unknown;
    expect(await receive()).toMatchObject({
      id: 1,
      result: { protocolVersion: '2025-06-18', serverInfo: { name: 'sluice' } },
    });
    send({ method: 'notifications/initialized' });
    child.stdin.write('not JSON\n{"jsonrpc":"2.0","id":7}\n[]\n');
    send({ id: 2, method: 'no/such/method' });
    send({ id: 3, method: 'tools/call', params: { name: 'parse', arguments: { text: '{"a":1}' } } });
    const responses = [await receive(), await receive()];
    expect(responses).toContainEqual(
      expect.objectContaining({ id: 2, error: expect.objectContaining({ code: -32_601 }) }),
    );
    expect(responses).toContainEqual(
      expect.objectContaining({
        id: 3,
        result: expect.objectContaining({ structuredContent: expect.objectContaining({ value: { a: 1 } }) }),
      }),
    );
    child.stdin.end();
    expect(await exitCode).toBe(0);
    for (const line of printed.stdout.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
    for (const line of printed.stderr.trim().split('\n').filter(Boolean)) {
      expect(JSON.parse(line)).toHaveProperty('level');
    }
  });

  it('refuses an endless message, and exits', async () => {
    const site = await makeSite();
    const { child, exitCode } = startCommand(['mcp', '--config', site.config], site.folder);
    child.stdin.on('error', () => undefined);
    const flood = 'x'.repeat(1024 * 1024);
    const fill = (): void => {
      while (child.stdin.writable && child.stdin.write(flood));
    };
    child.stdin.on('drain', fill);
    fill();
    expect(await exitCode).toBe(0);
  });
});

describe('sluice mcp with a server', () => {
  const TOKENS = [
    { name: 'agent', scopes: ['read', 'run'], value: 'a'.repeat(32) },
    { name: 'reader', scopes: ['read'], value: 'r'.repeat(32) },
    { name: 'deputy', scopes: ['read', 'run', 'decide'], value: 'd'.repeat(32) },
  ];

  async function startServer(site: Awaited<ReturnType<typeof makeSite>>) {
    const server = startCommand(['serve', '--no-demo', '--port', '0', '--config', site.config], site.folder);
    await expect.poll(() => server.printed.stdout, { timeout: 30_000 }).toMatch(/^http:\/\/\S+\n$/);
    return { ...server, url: server.printed.stdout.trim() };
  }

  it('offers the tools that the token allows; deciding needs a token with that scope', async () => {
    const site = await makeSite({ tokens: TOKENS });
    const { url, child } = await startServer(site);
    const as = async (message: string) =>
      connect(['--url', url], { cwd: site.folder, env: { SLUICE_TOKEN: message.repeat(32) } });
    const reader = await as('r');
    expect(await reader.listNames()).not.toContain('delegate_order');
    expect(await reader.call('delegate_order', order(site, 'mumbler'))).toMatchObject(failure('SCOPE_MISSING'));
    const agent = await as('a');
    expect(await agent.listNames()).toContain('delegate_order');
    expect(await agent.listNames()).not.toContain('resolve_item');
    const { result } = await agent.call('delegate_order', order(site, 'mumbler'));
    await agent.call('wait_for_run', { run: result?.['run'], timeout_s: 50 });
    const id = findItem(await agent.call('list_inbox'));
    const rejection = { id, action: 'reject', why: 'nothing shows that it works' };
    expect(await agent.call('resolve_item', rejection)).toMatchObject(failure('SCOPE_MISSING'));
    const deputy = await as('d');
    expect(await deputy.listNames()).toContain('resolve_item');
    expect(await deputy.call('resolve_item', rejection)).toMatchObject({
      result: { id, issue_ref: 'acme/shop#1', action: 'reject', new_run_id: null },
    });
    expect(await deputy.call('resolve_item', rejection)).toMatchObject(failure('CONFLICT'));
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(await deputy.call('list_inbox')).toMatchObject(failure('SERVER_UNREACHABLE'));
    expect(await deputy.listNames()).toContain('list_inbox');
  });

  it("uses the user's token, without deciding", async () => {
    const site = await makeSite();
    const { url } = await startServer(site);
    const { call, listNames } = await connect(['--url', url], { cwd: site.folder });
    expect(await listNames()).toContain('delegate_order');
    expect(await listNames()).not.toContain('resolve_item');
    expect(await call('resolve_item', { id: 'x', action: 'accept', why: 'x' })).toMatchObject(
      failure('MCP_INVALID_ARGUMENTS'),
    );
    const { result } = await call('delegate_order', order(site, 'greeter'));
    expect((await call('wait_for_run', { run: result?.['run'], timeout_s: 50 })).result).toMatchObject({
      decision: { action: 'advance' },
    });
  });

  it('refuses an invalid URL immediately', async () => {
    const { printed, exitCode } = startCommand(['mcp', '--url', 'localhost:7171'], await makeFolder({}));
    expect(await exitCode).toBe(2);
    expect(printed.stderr).toContain('is not a valid server address');
  });

  it('is bundled: the package that users install needs no SDK', async () => {
    const { readFile } = await import('node:fs/promises');
    for (const file of ['mcp/sdk.js', 'acp/sdk.js', 'http/hono.js']) {
      const text = await readFile(join(MAIN, '../../server', file), 'utf8');
      expect(text).not.toMatch(/from\s*"(?:@|zod|hono)/);
      expect(text.length).toBeLessThan(1_200_000);
    }
  });
});
