import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk';
import type { ClientContext, McpServer, RequestPermissionRequest, SessionUpdate } from '@agentclientprotocol/sdk';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../base/index.js';
import { DEFAULT_LEASE_MS } from '../../orders/dispatch/index.js';
import { encodeReply } from '../../store/records/index.js';
import { createLead } from '../../orders/index.js';
import { findAcceptedInputs } from '../../runs/index.js';
import type { RunPorts } from '../../runs/index.js';
import { makeSite } from '../../runs/scenarios/fixtures/make-site.js';
import type { Site } from '../../runs/scenarios/fixtures/make-site.js';
import { openStore } from '../../store/index.js';
import type { TurnSpec } from './acp-sessions.js';
import { serveAcp } from './index.js';

const AGENT = fileURLToPath(new URL('../../runs/scenarios/fixtures/acp-agent.mjs', import.meta.url));
const EDIT = {
  toolCallId: 'c1',
  title: 'Write a.txt',
  kind: 'edit',
  rawInput: { file_path: 'a.txt' },
  content: [{ type: 'diff', path: 'a.txt', oldText: null, newText: 'x' }],
};
const SCHEMA = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } };

/** Never settles. */
const never = new Promise<never>(() => {});

type Answer = (request: RequestPermissionRequest) => object | Promise<object>;

/** An engine `fake` that plays one list of steps per prompt. */
async function playFake(site: Site, prompts: readonly (readonly object[])[], options: object = {}) {
  const script = join(site.root, 'acp.json');
  await writeFile(script, JSON.stringify({ prompts }));
  const readLog = async (): Promise<readonly { readonly [key: string]: unknown }[]> =>
    (await readFile(`${script}.calls`, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly [key: string]: unknown });
  const agents = { fake: { acp: [process.execPath, AGENT, script, JSON.stringify(options)] } };
  return { agents, readLog };
}

/** A server and an SDK client, connected by byte streams. */
async function connect(
  site: Site,
  {
    spec,
    ports,
    answer,
    ignoreServers = false,
  }: { spec?: Partial<TurnSpec>; ports?: Partial<RunPorts>; answer?: Answer; ignoreServers?: boolean } = {},
) {
  const store = await openStore('memory:');
  const { data } = site;
  const lead = createLead({ store, sinks: [], data, wrappers: {} });
  const toServer = new TransformStream<Uint8Array, Uint8Array>();
  const toClient = new TransformStream<Uint8Array, Uint8Array>();
  const updates: SessionUpdate[] = [];
  const permissionRequests: RequestPermissionRequest[] = [];
  const server = serveAcp({
    context: {
      store,
      lead,
      runs: { data, ...ports },
      leaseMs: DEFAULT_LEASE_MS,
      clock: () => store.now(),
      logger: silentLogger,
      signal: new AbortController().signal,
    },
    spec: { engine: 'fake', permissions: 'ask', ...spec },
    ignoreServers,
    input: toServer.readable,
    output: toClient.writable,
  });
  const connection = client({ name: 'editor' })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      permissionRequests.push(params);
      return (await answer?.(params)) as never;
    })
    .connect(ndJsonStream(toServer.writable, toClient.readable));
  /** Closes the client's end, as an exiting process does. */
  const disconnect = async (): Promise<void> => {
    connection.close();
    await toServer.writable.close().catch(() => undefined);
  };
  const end = async (): Promise<void> => {
    await disconnect();
    await server;
    await lead.close();
    await store.close();
  };
  onTestFinished(end);
  const { agent } = connection;
  const initialized = await agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities: {},
    clientInfo: { name: 'editor', version: '1', title: 'The Editor' },
  });
  return { agent, updates, permissionRequests, store, initialized, disconnect, server };
}

async function open(agent: ClientContext, site: Site): Promise<string> {
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd: site.workdir, mcpServers: [] });
  return sessionId;
}

const sendPrompt = async (agent: ClientContext, sessionId: string, text: string) =>
  agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] });

const createChooser =
  (optionId: string): Answer =>
  () => ({ outcome: { outcome: 'selected', optionId } });

const joinText = (updates: readonly SessionUpdate[], kind: string): string =>
  updates
    .flatMap((update) => (update.sessionUpdate === kind && 'content' in update ? [update.content] : []))
    .map((content) => (typeof content === 'object' && content !== null && 'text' in content ? content.text : ''))
    .join('');

describe('a client prompt', () => {
  it('is executed as a run: messages, thoughts and plans are streamed, and the store has its record', async () => {
    const site = await makeSite();
    const plan = { sessionUpdate: 'plan', entries: [{ content: 'one', priority: 'high', status: 'pending' }] };
    const { agents } = await playFake(site, [[{ think: 'hm' }, { update: plan }, { say: 'All ' }, { say: 'done.' }]]);
    const { agent, updates, store, initialized } = await connect(site, { ports: { agents } });
    expect(initialized).toMatchObject({ protocolVersion: 1, agentInfo: { name: 'sluice' } });
    const response = await sendPrompt(agent, await open(agent, site), 'Do it.');
    expect(response).toMatchObject({ stopReason: 'end_turn', _meta: { sluice: { status: 'success' } } });
    expect(joinText(updates, 'agent_message_chunk')).toBe('All done.');
    expect(joinText(updates, 'agent_thought_chunk')).toBe('hm');
    expect(updates).toContainEqual(expect.objectContaining(plan));
    const { items } = await store.listRuns({});
    expect(items).toMatchObject([{ state: 'ended', spec: { engine: 'fake', prompt: 'Do it.' } }]);
    expect(items[0]?.result).toMatchObject({ status: 'success', text: 'All done.' });
  });

  it('continues the engine session, with ids that are unique in the ACP session', async () => {
    const site = await makeSite();
    const call = { update: { sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'Look', kind: 'read' } };
    const { agents, readLog } = await playFake(site, [
      [call, { say: 'One.' }],
      [call, { say: 'Two.' }],
    ]);
    const { agent, updates } = await connect(site, { ports: { agents } });
    const sessionId = await open(agent, site);
    await sendPrompt(agent, sessionId, 'First');
    await sendPrompt(agent, sessionId, 'Second');
    const methodsCalled = (await readLog()).flatMap(({ method }) => (typeof method === 'string' ? [method] : []));
    expect(methodsCalled).toContain('session/resume');
    const ids = updates.flatMap((update) => (update.sessionUpdate === 'tool_call' ? [update.toolCallId] : []));
    expect(ids).toEqual(['c1', 't2/c1']);
  });

  it('passes a permission request to the client, with its diff, and its answer to the agent', async () => {
    const site = await makeSite();
    const { agents, readLog } = await playFake(site, [[{ ask: EDIT }, { say: 'Done.' }]]);
    const { agent, permissionRequests, updates, store } = await connect(site, {
      ports: { agents },
      answer: createChooser('yes'),
    });
    await sendPrompt(agent, await open(agent, site), 'Do it.');
    expect(permissionRequests).toMatchObject([
      {
        toolCall: { toolCallId: 'c1', content: [{ type: 'diff', path: 'a.txt', newText: 'x' }] },
        options: [{ optionId: 'yes', kind: 'allow_once' }, { optionId: 'always' }, { optionId: 'no' }],
      },
    ]);
    expect(await readLog()).toContainEqual({
      answer: expect.objectContaining({
        result: expect.objectContaining({ outcome: { outcome: 'selected', optionId: 'yes' } }),
      }),
    });
    expect(updates).toContainEqual(expect.objectContaining({ toolCallId: 'c1', status: 'completed' }));
    const [record] = (await store.listRuns({})).items;
    const events = await store.read({ runId: record?.id ?? '', protocol: 'fcmp', limit: 1000 });
    const replies = events.flatMap(({ event }) =>
      'type' in event && event.type === 'permission.replied' ? [event] : [],
    );
    expect(replies).toMatchObject([{ data: { decision: 'allow', by: 'person', who: 'The Editor' } }]);
  });

  it.each([
    ['a denial', createChooser('no')],
    ['a cancellation', () => ({ outcome: { outcome: 'cancelled' } })],
    ['an option that was not offered', createChooser('sudo')],
    ['an error', () => Promise.reject(new Error('no dialog'))],
  ] satisfies [string, Answer][])('denies the tool call if the client answers with %s', async (_, answer) => {
    const site = await makeSite();
    const { agents } = await playFake(site, [[{ ask: EDIT }, { say: 'Done.' }]]);
    const { agent, updates } = await connect(site, { ports: { agents }, answer });
    await sendPrompt(agent, await open(agent, site), 'Do it.');
    expect(updates).toContainEqual(expect.objectContaining({ toolCallId: 'c1', status: 'failed' }));
  });

  it('does not ask the client about requests that a rule decides', async () => {
    const site = await makeSite();
    const { agents } = await playFake(site, [[{ ask: EDIT }, { say: 'Done.' }]]);
    const approvals = [{ path: 'a.txt', decide: 'allow' as const }];
    const { agent, permissionRequests, updates } = await connect(site, { ports: { agents, approvals } });
    await sendPrompt(agent, await open(agent, site), 'Do it.');
    expect(permissionRequests).toEqual([]);
    expect(updates).toContainEqual(expect.objectContaining({ toolCallId: 'c1', status: 'completed' }));
  });

  it('matches answers to concurrent permission requests', async () => {
    const site = await makeSite();
    const toolCalls = ['c1', 'c2', 'c3'].map((toolCallId) => ({ ...EDIT, toolCallId }));
    const { agents, readLog } = await playFake(site, [[{ asks: toolCalls }, { say: 'Done.' }]]);
    const { agent } = await connect(site, {
      ports: { agents },
      answer: ({ toolCall }) => ({
        outcome: { outcome: 'selected', optionId: toolCall.toolCallId === 'c2' ? 'no' : 'yes' },
      }),
    });
    await sendPrompt(agent, await open(agent, site), 'Do it.');
    const chosen = (await readLog()).flatMap(({ answer }) => (answer === undefined ? [] : [JSON.stringify(answer)]));
    expect(chosen.map((text) => /"optionId":"(\w+)"/u.exec(text)?.[1])).toEqual(['yes', 'no', 'yes']);
  });

  it('continues if its permission request is answered elsewhere, without waiting for the client', async () => {
    const site = await makeSite();
    const { agents } = await playFake(site, [[{ ask: EDIT }, { say: 'Done.' }]]);
    let onAsked = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      onAsked = resolve;
    });
    const { agent, store } = await connect(site, {
      ports: { agents },
      answer: async () => {
        onAsked();
        return never;
      },
    });
    const turn = sendPrompt(agent, await open(agent, site), 'Do it.');
    await asked;
    const [record] = (await store.listRuns({})).items;
    await store.postReply(
      record?.id ?? '',
      encodeReply({ interaction_id: 'px_1_1', option_id: 'yes', who: 'console' }),
    );
    expect(await turn).toMatchObject({ stopReason: 'end_turn' });
  });

  it('is canceled by the client', async () => {
    const site = await makeSite();
    const { agents } = await playFake(site, [[{ say: 'Working' }, { ask: EDIT }]]);
    let sessionId = '';
    const { agent, store } = await connect(site, {
      ports: { agents },
      answer: async () => {
        await agent.notify(methods.agent.session.cancel, { sessionId });
        return { outcome: { outcome: 'cancelled' } };
      },
    });
    sessionId = await open(agent, site);
    expect(await sendPrompt(agent, sessionId, 'Do it.')).toMatchObject({ stopReason: 'cancelled' });
    expect((await store.listRuns({})).items).toMatchObject([{ result: { status: 'canceled' } }]);
  });

  it('is canceled even if the client cancels it before its run has started', async () => {
    const site = await makeSite();
    const { agents } = await playFake(site, [[{ hang: true }]]);
    const { agent } = await connect(site, { ports: { agents } });
    const sessionId = await open(agent, site);
    const turn = sendPrompt(agent, sessionId, 'Do it.');
    await agent.notify(methods.agent.session.cancel, { sessionId });
    expect(await turn).toMatchObject({ stopReason: 'cancelled' });
  });

  it('is validated against the contract, and the response contains its value', async () => {
    const site = await makeSite();
    const { agents } = await playFake(site, [[{ say: '<json>{"n":3}</json>' }]]);
    const { agent } = await connect(site, { ports: { agents }, spec: { contract: { schema: SCHEMA } } });
    const response = await sendPrompt(agent, await open(agent, site), 'Count.');
    expect(response).toMatchObject({ _meta: { sluice: { status: 'success', value: { n: 3 } } } });
  });

  it('fails with a code and the run id if the answer does not match the contract, and the session can continue', async () => {
    const site = await makeSite();
    const { agents } = await playFake(site, [[{ say: 'no idea' }], [{ say: '{"n":3}' }]]);
    const { agent } = await connect(site, { ports: { agents }, spec: { contract: { schema: SCHEMA } } });
    const sessionId = await open(agent, site);
    await expect(sendPrompt(agent, sessionId, 'Count.')).rejects.toMatchObject({
      code: -32_603,
      data: { code: 'OUTPUT_NOT_VALIDATED', run_id: expect.any(String) },
    });
    expect(await sendPrompt(agent, sessionId, 'Again.')).toMatchObject({ stopReason: 'end_turn' });
  });

  it('can also be executed by a one-way engine', async () => {
    const records = [
      { type: 'thread.started', thread_id: 't-1' },
      { type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text: 'Hello.' } },
      { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } },
    ];
    const site = await makeSite([{ print: records.map((record) => `${JSON.stringify(record)}\n`).join('') }]);
    const { agent, updates } = await connect(site, {
      ports: { programs: { codex: site.agent } },
      spec: { engine: 'codex', permissions: 'safe' },
    });
    const sessionId = await open(agent, site);
    expect(await sendPrompt(agent, sessionId, 'Hi')).toMatchObject({
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    });
    await sendPrompt(agent, sessionId, 'Again');
    expect(joinText(updates, 'agent_message_chunk')).toBe('Hello.Hello.');
    const [first, second] = await site.calls();
    expect(first?.args).not.toContain('resume');
    expect(second?.args).toContain('t-1');
  });
});

const IMAGE = { type: 'image' as const, data: 'iVBORw0KGgo=', mimeType: 'image/png' };
const PDF = { uri: 'file:///w/a.pdf', mimeType: 'application/pdf', blob: 'JVBERi0=' };
const SERVER = {
  name: 'docs',
  command: 'docs-mcp',
  args: ['--all'],
  env: [{ name: 'KEY', value: 'sesame-1234-open' }],
};
const REMOTE = {
  type: 'http' as const,
  name: 'far away',
  url: 'https://example.org/mcp',
  headers: [{ name: 'Authorization', value: 'Bearer sesame-5678-open' }],
};
const CAPABLE = {
  promptCapabilities: { image: true, embeddedContext: true },
  mcpCapabilities: { http: true, sse: false },
};

describe('images, files and MCP servers from a client', () => {
  it('are passed to an ACP agent that accepts them, and are advertised to the client', async () => {
    const site = await makeSite();
    const { agents, readLog } = await playFake(site, [[{ say: 'Seen.' }]], { capabilities: CAPABLE });
    const { agent, initialized, store } = await connect(site, { ports: { agents } });
    expect(initialized.agentCapabilities).toMatchObject({
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: false },
    });
    const mcpServers: McpServer[] = [SERVER, REMOTE];
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd: site.workdir, mcpServers });
    const prompt = [
      { type: 'text' as const, text: 'What is ' },
      IMAGE,
      { type: 'text' as const, text: '? See ' },
      { type: 'resource' as const, resource: PDF },
    ];
    expect(await agent.request(methods.agent.session.prompt, { sessionId, prompt })).toMatchObject({
      stopReason: 'end_turn',
    });
    const calls = await readLog();
    expect(calls).toContainEqual({ method: 'session/new', params: { cwd: site.workdir, mcpServers } });
    expect(calls).toContainEqual({ attached: [IMAGE, { type: 'resource', resource: PDF }] });
    expect(calls).toContainEqual(
      expect.objectContaining({ prompt: expect.stringContaining('What is [Image 1]? See [File 2]') }),
    );
    const [record] = (await store.listRuns({})).items;
    expect(JSON.stringify(record)).not.toContain('sesame');
    const stdin = await readFile(join(site.data, 'runs', record?.id ?? '', '.audit', 'stdin.1.log'), 'utf8');
    expect(stdin).toContain('docs-mcp');
    expect(stdin).not.toContain('sesame');
  });

  it('are sent again when a session is loaded, and are passed to the next process', async () => {
    const site = await makeSite();
    const { agents, readLog } = await playFake(site, [[{ say: 'One.' }], [{ say: 'Two.' }]], { capabilities: CAPABLE });
    const first = await connect(site, { ports: { agents } });
    const sessionId = await open(first.agent, site);
    await sendPrompt(first.agent, sessionId, 'First');
    const second = await connect(site, { ports: { agents } });
    await second.agent.request(methods.agent.session.load, { sessionId, cwd: site.workdir, mcpServers: [SERVER] });
    await sendPrompt(second.agent, sessionId, 'Second');
    expect(await readLog()).toContainEqual({
      method: 'session/resume',
      params: { sessionId: 's-1', cwd: site.workdir, mcpServers: [SERVER] },
    });
  });

  it('are refused with a code if the agent does not accept them', async () => {
    const site = await makeSite();
    const { agents, readLog } = await playFake(site, [[{ say: 'ok' }]]);
    const { agent, initialized, store } = await connect(site, { ports: { agents } });
    expect(initialized.agentCapabilities).toMatchObject({
      promptCapabilities: { image: false, audio: false, embeddedContext: true },
      mcpCapabilities: { http: false, sse: false },
    });
    const sessionId = await open(agent, site);
    const audio = { type: 'audio' as const, data: 'AAAA', mimeType: 'audio/wav' };
    for (const block of [IMAGE, audio, { type: 'resource' as const, resource: PDF }]) {
      await expect(agent.request(methods.agent.session.prompt, { sessionId, prompt: [block] })).rejects.toMatchObject({
        code: -32_602,
        data: { code: 'ACP_INVALID_REQUEST' },
      });
    }
    await expect(
      agent.request(methods.agent.session.new, { cwd: site.workdir, mcpServers: [REMOTE] }),
    ).rejects.toMatchObject({ code: -32_602, data: { code: 'ACP_INVALID_REQUEST' } });
    // No run was started for the refused requests.
    expect((await store.listRuns({})).items).toEqual([]);
    expect((await readLog()).some((call) => 'prompt' in call)).toBe(false);
  });

  it.each([
    ['claude', { image: true }, { http: true, sse: true }],
    ['codex', { image: true }, { http: true, sse: false }],
    ['gemini', { image: false }, { http: false, sse: false }],
    ['qwen', { image: false }, { http: false, sse: false }],
  ] as const)(
    'are offered for %s as far as its command line accepts them',
    async (engine, promptCapabilities, mcpCapabilities) => {
      const site = await makeSite();
      const { initialized } = await connect(site, { spec: { engine, permissions: 'safe' } });
      expect(initialized.agentCapabilities).toMatchObject({ promptCapabilities, mcpCapabilities });
    },
  );

  it('include MCP servers for claude and codex, but another engine refuses them with a code', async () => {
    const site = await makeSite();
    const request = { cwd: site.workdir, mcpServers: [SERVER] };
    for (const engine of ['claude', 'codex']) {
      const { agent } = await connect(site, { spec: { engine, permissions: 'safe' } });
      expect(await agent.request(methods.agent.session.new, request)).toHaveProperty('sessionId');
    }
    const { agent } = await connect(site, { spec: { engine: 'gemini', permissions: 'safe' } });
    await expect(agent.request(methods.agent.session.new, request)).rejects.toMatchObject({
      code: -32_602,
      data: { code: 'ACP_INVALID_REQUEST' },
    });
  });

  it('can be ignored on request', async () => {
    const site = await makeSite();
    const { agent } = await connect(site, { spec: { engine: 'gemini', permissions: 'safe' }, ignoreServers: true });
    const response = await agent.request(methods.agent.session.new, { cwd: site.workdir, mcpServers: [SERVER] });
    expect(response).toHaveProperty('sessionId');
  });

  it.each([
    ['not base64', { ...IMAGE, data: '<svg>' }],
    ['of another type', { ...IMAGE, mimeType: 'text/html' }],
    ['without a type', { ...IMAGE, mimeType: '' }],
  ])('are refused if an image is %s', async (_, block) => {
    const site = await makeSite();
    const { agents } = await playFake(site, [[{ say: 'ok' }]], { capabilities: CAPABLE });
    const { agent } = await connect(site, { ports: { agents } });
    const sessionId = await open(agent, site);
    await expect(agent.request(methods.agent.session.prompt, { sessionId, prompt: [block] })).rejects.toMatchObject({
      data: { code: 'ACP_INVALID_REQUEST' },
    });
  });

  it.each([
    ['cannot be started', ['/does/not/exist']],
    ['prints something else', [process.execPath, '-e', 'console.log("hello"); setInterval(() => {}, 1000)']],
  ])('are not offered for an agent that %s', async (_, acp) => {
    const site = await makeSite();
    const accepts = await findAcceptedInputs(
      'fake',
      { data: site.data, agents: { fake: { acp } } },
      { timeoutMs: 500 },
    );
    expect(accepts).toEqual({ attachments: [], mcpServers: [] });
  });
});

describe('a stored session', () => {
  it('is loaded with its messages, and continues in the same engine session', async () => {
    const site = await makeSite();
    const { agents, readLog } = await playFake(site, [[{ say: 'One.' }], [{ say: 'Two.' }]]);
    const first = await connect(site, { ports: { agents } });
    const sessionId = await open(first.agent, site);
    await sendPrompt(first.agent, sessionId, 'First');
    const second = await connect(site, { ports: { agents } });
    const params = { sessionId, cwd: site.workdir, mcpServers: [] };
    await second.agent.request(methods.agent.session.load, params);
    // The new store does not have the earlier runs, so they are omitted.
    expect(second.updates).toEqual([]);
    await sendPrompt(second.agent, sessionId, 'Second');
    expect((await readLog()).flatMap(({ method }) => method ?? [])).toContain('session/resume');
    await second.agent.request(methods.agent.session.load, params);
    expect(joinText(second.updates, 'user_message_chunk')).toBe('Second');
    expect(joinText(second.updates, 'agent_message_chunk')).toBe('Two.Two.');
    const otherFolder = { sessionId, cwd: site.root, mcpServers: [] };
    const third = await connect(site, { ports: { agents } });
    for (const { agent } of [second, third]) {
      await expect(agent.request(methods.agent.session.resume, otherFolder)).rejects.toMatchObject({
        data: { code: 'ACP_INVALID_REQUEST' },
      });
    }
  });

  it.each(['01ARZ3NDEKTSV4RRFFQ69G5FAV', '../../etc/passwd', '', 'x'.repeat(300)])(
    'is not found under an unknown or invalid id: %s',
    async (sessionId) => {
      const site = await makeSite();
      const { agent } = await connect(site);
      await expect(
        agent.request(methods.agent.session.load, { sessionId, cwd: site.workdir, mcpServers: [] }),
      ).rejects.toMatchObject({ code: -32_002, data: { code: 'ACP_SESSION_NOT_FOUND' } });
    },
  );
});

describe('the modes of a session', () => {
  it('are the permissions, without bypass unless the command line allows it', async () => {
    const site = await makeSite();
    const { agents } = await playFake(site, [[{ ask: EDIT }]]);
    const { agent, permissionRequests, updates } = await connect(site, { ports: { agents } });
    const { sessionId, modes } = await agent.request(methods.agent.session.new, { cwd: site.workdir, mcpServers: [] });
    expect(modes).toMatchObject({ currentModeId: 'ask' });
    expect(modes?.availableModes.map(({ id }) => id)).toEqual(['safe', 'workspace', 'ask']);
    await expect(agent.request(methods.agent.session.setMode, { sessionId, modeId: 'bypass' })).rejects.toMatchObject({
      data: { code: 'ACP_INVALID_REQUEST' },
    });
    await agent.request(methods.agent.session.setMode, { sessionId, modeId: 'safe' });
    await sendPrompt(agent, sessionId, 'Do it.');
    expect(permissionRequests).toEqual([]);
    expect(updates).toContainEqual(expect.objectContaining({ toolCallId: 'c1', status: 'failed' }));
  });
});

describe('a client that misbehaves', () => {
  it.each([
    ['a relative folder', { cwd: 'work' }],
    ['a folder that does not exist', { cwd: '/no/such/folder' }],
  ])('is refused %s', async (_, params) => {
    const { agent } = await connect(await makeSite());
    await expect(agent.request(methods.agent.session.new, { mcpServers: [], ...params })).rejects.toMatchObject({
      data: { code: 'ACP_INVALID_REQUEST' },
    });
  });

  it('is refused a second prompt while one is running, a prompt without a session, and unsupported content', async () => {
    const site = await makeSite();
    const { agents } = await playFake(site, [[{ say: 'Working' }, { hang: true }]]);
    const { agent, updates } = await connect(site, { ports: { agents } });
    const sessionId = await open(agent, site);
    const image = { type: 'image' as const, data: 'AAAA', mimeType: 'image/png' };
    for (const prompt of [[], [image]]) {
      await expect(agent.request(methods.agent.session.prompt, { sessionId, prompt })).rejects.toMatchObject({
        data: { code: 'ACP_INVALID_REQUEST' },
      });
    }
    const turn = sendPrompt(agent, sessionId, 'Do it.');
    await expect.poll(() => joinText(updates, 'agent_message_chunk')).toBe('Working');
    await expect(sendPrompt(agent, sessionId, 'More.')).rejects.toMatchObject({ data: { code: 'ACP_BUSY' } });
    await expect(sendPrompt(agent, 'none', 'Hi')).rejects.toMatchObject({ data: { code: 'ACP_SESSION_NOT_FOUND' } });
    await agent.notify(methods.agent.session.cancel, { sessionId });
    expect(await turn).toMatchObject({ stopReason: 'cancelled' });
  });

  it('cannot open an unlimited number of sessions', async () => {
    const site = await makeSite();
    const { agent } = await connect(site);
    for (let number = 0; number < 256; number += 1) await open(agent, site);
    await expect(open(agent, site)).rejects.toMatchObject({ data: { code: 'ACP_BUSY' } });
  });

  it('does not block the server after it has stopped reading and disconnected', async () => {
    const site = await makeSite();
    const { agents } = await playFake(site, [[{ say: 'Working' }, { say: ' hard' }, { hang: true }]]);
    const store = await openStore('memory:');
    onTestFinished(async () => store.close());
    const lead = createLead({ store, sinks: [], data: site.data, wrappers: {} });
    onTestFinished(async () => lead.close());
    const input = new TransformStream<Uint8Array, Uint8Array>();
    let received = '';
    const output = new WritableStream<Uint8Array>({
      write: async (bytes) => {
        // The client stops reading after the first update.
        if (received.includes('session/update')) return never;
        received += new TextDecoder().decode(bytes);
        return undefined;
      },
    });
    const runs = { data: site.data, agents };
    const { signal } = new AbortController();
    const context = { store, lead, runs, leaseMs: 30_000, clock: () => store.now(), logger: silentLogger, signal };
    const spec = { engine: 'fake', permissions: 'ask' } as const;
    const server = serveAcp({ context, spec, input: input.readable, output });
    const writer = input.writable.getWriter();
    const request = async (id: number, method: string, params: object): Promise<void> =>
      writer.write(new TextEncoder().encode(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`));
    await request(1, 'initialize', { protocolVersion: 1 });
    await expect.poll(() => received).toContain('protocolVersion');
    await request(2, 'session/new', { cwd: site.workdir, mcpServers: [] });
    await expect.poll(() => received).toContain('sessionId');
    const sessionId = /"sessionId":"(\w+)"/u.exec(received)?.[1];
    await request(3, 'session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Do it.' }] });
    await expect.poll(() => received).toContain('session/update');
    await writer.close();
    await server;
    expect((await store.listRuns({})).items).toMatchObject([{ state: 'ended', result: { status: 'canceled' } }]);
  });

  it('cancels its runs when it disconnects', async () => {
    const site = await makeSite();
    const { agents } = await playFake(site, [[{ say: 'Working' }, { hang: true }]]);
    const { agent, updates, store, disconnect, server } = await connect(site, { ports: { agents } });
    const turn = sendPrompt(agent, await open(agent, site), 'Do it.');
    turn.catch(() => undefined);
    await expect.poll(() => joinText(updates, 'agent_message_chunk')).toBe('Working');
    await disconnect();
    await server;
    expect((await store.listRuns({})).items).toMatchObject([{ state: 'ended', result: { status: 'canceled' } }]);
  });
});
