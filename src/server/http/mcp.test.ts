import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Token } from '../config/index.js';
import { openListeningServer } from '../fixtures/open-listening-server.js';
import { openServer } from '../fixtures/open-server.js';
import type { ServerChanges } from '../fixtures/open-server.js';
import { sampleClaim, sampleSettlement, sampleSubmission } from '../../store/contract/fixtures/order-samples.js';

const TOKENS: readonly Token[] = [
  { name: 'agent', scopes: ['read', 'run'], value: 'a'.repeat(32) },
  { name: 'reader', scopes: ['read'], value: 'r'.repeat(32) },
  { name: 'deputy', scopes: ['read', 'run', 'decide'], value: 'd'.repeat(32) },
];
const READ_TOOLS = ['parse', 'list_capabilities', 'wait_for_run', 'read_result', 'follow_run', 'list_inbox'];

/** A listening server, and real protocol clients. */
async function openSite(settings: ServerChanges['settings'] = { tokens: TOKENS }) {
  const server = await openListeningServer({ settings });
  const connect = async (letter?: string) => {
    const headers = letter === undefined ? {} : { authorization: `Bearer ${letter.repeat(32)}` };
    const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers } });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    onTestFinished(async () => client.close());
    /** Calls a tool. The client itself checks the result against the tool's schema. */
    const call = async (name: string, input: Record<string, unknown> = {}) => {
      const { structuredContent, isError = false, _meta } = await client.callTool({ name, arguments: input });
      return { result: structuredContent as Record<string, unknown> | undefined, isError, meta: _meta };
    };
    const listNames = async () => (await client.listTools()).tools.map(({ name }) => name);
    return { client, call, listNames };
  };
  return { ...server, connect };
}

const failure = (code: string) => ({ isError: true, meta: { 'sluice/error': { code } } });

const order = (work: string) => ({
  issue_ref: 'acme/shop#1',
  role: 'backend',
  repo_dir: work,
  worker: 'scripted',
  instructions: 'Greet.',
});

describe('MCP over HTTP', () => {
  it('parses, delegates an order and reads it, for a real client', async () => {
    const { connect, work, store } = await openSite();
    const { call, listNames, client } = await connect('a');
    expect(client.getServerVersion()).toMatchObject({ name: 'sluice' });
    expect(await listNames()).toEqual([...READ_TOOLS.slice(0, 2), 'delegate_order', ...READ_TOOLS.slice(2)]);
    expect(await call('parse', { text: 'Sure: {"n": 3,}' })).toMatchObject({
      result: { status: 'success', value: { n: 3 }, repair_level: 'deterministic_generic' },
    });
    const { result } = await call('delegate_order', order(work));
    expect(result).toMatchObject({ issue_ref: 'acme/shop#1', worker: 'scripted' });
    const run = String(result?.['run']);
    expect(await call('wait_for_run', { run, timeout_s: 0.2 })).toMatchObject({
      result: { run, done: false, state: 'queued' },
    });
    expect(await store.findRequest(run)).toMatchObject({ caller: 'agent' });
  });

  it('reads the decision of an order that many newer orders of its issue follow', async () => {
    const { connect, store } = await openSite();
    const { call } = await connect('r');
    const submissions = Array.from({ length: 25 }, () => sampleSubmission());
    for (const submission of submissions) {
      const { record } = await store.submitOrder(submission);
      await store.claimRun(sampleClaim());
      await store.settleOrder(sampleSettlement(record, 'advance'));
    }
    for (const { run } of [submissions[0], submissions.at(-1)].filter((submission) => submission !== undefined))
      expect(await call('read_result', { run })).toMatchObject({ result: { run, decision: { action: 'advance' } } });
  });

  it('responds to invalid calls with a code, and continues', async () => {
    const { connect, work } = await openSite();
    const { call } = await connect('a');
    expect(await call('no_such_tool')).toMatchObject(failure('MCP_INVALID_ARGUMENTS'));
    expect(await call('parse', { text: 1 })).toMatchObject(failure('MCP_INVALID_ARGUMENTS'));
    expect(await call('read_result', { run: '../../etc/passwd' })).toMatchObject(failure('RUN_NOT_FOUND'));
    expect(await call('delegate_order', { ...order(work), repo_dir: '/etc' })).toMatchObject(
      failure('FOLDER_NOT_ALLOWED'),
    );
    expect(await call('parse', { text: '[1]' })).toMatchObject({ result: { value: [1] } });
  });

  it('offers only the tools that the token allows, and decides only for a token with that scope', async () => {
    const { connect, work } = await openSite();
    const reader = await connect('r');
    expect(await reader.listNames()).toEqual(READ_TOOLS);
    expect(await reader.call('delegate_order', order(work))).toMatchObject(failure('SCOPE_MISSING'));
    const agent = await connect('a');
    expect(await agent.listNames()).not.toContain('resolve_item');
    const decision = { id: 'x', action: 'accept', why: 'x' };
    expect(await agent.call('resolve_item', decision)).toMatchObject(failure('MCP_INVALID_ARGUMENTS'));
    const delegate = await connect('d');
    expect(await delegate.listNames()).toContain('resolve_item');
    expect(await delegate.call('resolve_item', decision)).toMatchObject(failure('ITEM_NOT_FOUND'));
  });

  it('needs a token if the API needs one', async () => {
    const { connect } = await openSite();
    await expect(connect()).rejects.toThrow(/401|token/i);
    await expect(connect('x')).rejects.toThrow(/401|token/i);
  });

  it('lets a caller without a token only read, even if the server process has a token', async () => {
    vi.stubEnv('SLUICE_TOKEN', 'd'.repeat(32));
    onTestFinished(() => void vi.unstubAllEnvs());
    const localToken: Token = { name: 'local', scopes: ['read', 'run', 'decide'], value: 'd'.repeat(32) };
    const { connect, work } = await openSite({ tokens: [localToken], openRead: true });
    const anonymousClient = await connect();
    expect(await anonymousClient.listNames()).toEqual(READ_TOOLS);
    expect(await anonymousClient.call('delegate_order', order(work))).toMatchObject(failure('TOKEN_REFUSED'));
    // The user's token is meant for a human: an agent that has it may not decide with it.
    const user = await connect('d');
    expect(await user.listNames()).toContain('delegate_order');
    expect(await user.listNames()).not.toContain('resolve_item');
  });

  it('ends waiting calls when their client disconnects', async () => {
    const { connect, work, store } = await openSite();
    const { call } = await connect('a');
    const { result } = await call('delegate_order', order(work));
    const { result: other } = await call('delegate_order', { ...order(work), issue_ref: 'acme/shop#2' });
    const run = String(result?.['run']);
    const findRun = vi.spyOn(store, 'findRun');
    const countReads = () => findRun.mock.calls.filter(([id]) => id === run).length;
    const { client } = await connect('a');
    const waiting = client
      .callTool({ name: 'wait_for_run', arguments: { run, timeout_s: 50 } }, { timeout: 60_000 })
      .catch((error: unknown) => error);
    await vi.waitFor(() => expect(countReads()).toBeGreaterThan(0), { timeout: 15_000 });
    await client.close();
    expect(await waiting).toBeInstanceOf(Error);
    await vi.waitFor(
      async () => {
        const before = countReads();
        // A waiting call polls its run at least every two seconds, so it also does while another call waits longer than
        // that.
        await call('wait_for_run', { run: other?.['run'], timeout_s: 2.5 });
        expect(countReads()).toBe(before);
      },
      { timeout: 12_000 },
    );
  }, 40_000);
});

describe('a request to /mcp', () => {
  const message = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params });
  const initialize = message('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'old', version: '1' },
  });

  async function openMcp(changes: ServerChanges = { settings: { tokens: TOKENS } }) {
    const { app } = await openServer(changes);
    return async (body: unknown, headers: Readonly<Record<string, string>> = {}, method = 'POST') =>
      app.request('/mcp', {
        method,
        headers: {
          authorization: `Bearer ${'a'.repeat(32)}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        ...(method === 'POST' ? { body: typeof body === 'string' ? body : JSON.stringify(body) } : {}),
      });
  }

  it('can use an older protocol revision, and no session is stored', async () => {
    const post = await openMcp();
    const response = await post(initialize);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(response.headers.get('mcp-session-id')).toBeNull();
    expect(await response.json()).toMatchObject({
      id: 1,
      result: { protocolVersion: '2025-06-18', serverInfo: { name: 'sluice' } },
    });
    const callResponse = await post(message('tools/call', { name: 'parse', arguments: { text: '{"a":1}' } }), {
      'mcp-protocol-version': '2025-06-18',
    });
    expect(await callResponse.json()).toMatchObject({ id: 1, result: { structuredContent: { value: { a: 1 } } } });
    const notificationResponse = await post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect(notificationResponse.status).toBe(202);
  });

  it('has the common response headers', async () => {
    const post = await openMcp();
    const { headers } = await post(initialize);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-request-id')).toMatch(/^[\w-]+$/);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it.each([
    ['another name of the server', { host: 'evil.example' }, 'HOST_REFUSED'],
    ['a page of another origin', { origin: 'https://evil.example' }, 'ORIGIN_REFUSED'],
    ['a page of another site', { 'sec-fetch-site': 'cross-site' }, 'ORIGIN_REFUSED'],
    ['a wrong token', { authorization: 'Bearer wrong' }, 'TOKEN_REFUSED'],
    ['a body that is not JSON', { 'content-type': 'text/plain' }, 'NOT_JSON'],
  ])('is refused with %s', async (_, headers, code) => {
    const post = await openMcp();
    const response = await post(initialize, headers);
    expect(await response.json()).toMatchObject({ code });
    expect(response.status).toBeGreaterThanOrEqual(400);
  });

  it('may come from a page of an allowed origin, with a token', async () => {
    const origin = 'https://agents.example';
    const post = await openMcp({ settings: { tokens: TOKENS, origins: [origin] } });
    const response = await post(initialize, { origin });
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
  });

  it('must not be larger than other requests', async () => {
    const { limits } = (await openServer()).context.settings;
    const post = await openMcp({ settings: { tokens: TOKENS, limits: { ...limits, bodyBytes: 1000 } } });
    const response = await post(message('tools/call', { name: 'parse', arguments: { text: 'x'.repeat(2000) } }));
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: 'BODY_TOO_LARGE' });
  });

  it.each(['', '{', '1', '"text"', 'null'])('gets an error if its body is %j', async (body) => {
    const post = await openMcp();
    const response = await post(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'INVALID_BODY' });
  });

  it.each([
    {},
    [],
    [1, 2],
    { jsonrpc: '1.0' },
    message('no/such/method'),
    message('subscriptions/listen'),
    { ...message('tools/call'), params: 7 },
    Array.from({ length: 200 }, (_, id) => ({ ...message('tools/call', { name: 'parse', arguments: {} }), id })),
  ])('gets a bounded response, whatever it contains: %#', async (body) => {
    const post = await openMcp();
    const response = await post(body);
    expect(response.status).toBeLessThan(500);
    expect((await response.text()).length).toBeLessThan(1_000_000);
  });

  it('must be a POST: other methods are refused with the allowed method', async () => {
    const post = await openMcp();
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const response = await post(undefined, {}, method);
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    }
  });
});
