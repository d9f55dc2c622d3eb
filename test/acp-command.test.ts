import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk';
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { replayRunFolder } from '../src/runs/run-folder/index.js';
import { runToEnd } from '../src/runs/scenarios/run.contract.js';
import { makeSite } from '../src/runs/scenarios/fixtures/make-site.js';
import type { Site } from '../src/runs/scenarios/fixtures/make-site.js';
import { openStore } from '../src/store/index.js';
import { BUNDLED_MAIN } from './command-stage.js';
import { startCommand } from './start-command.js';

const AGENT = fileURLToPath(new URL('../src/runs/scenarios/fixtures/acp-agent.mjs', import.meta.url));
const EDIT = {
  toolCallId: 'c1',
  title: 'Write a.txt',
  kind: 'edit',
  rawInput: { file_path: 'a.txt' },
  content: [{ type: 'diff', path: 'a.txt', oldText: null, newText: 'x' }],
};

/** Writes a configuration whose agent `fake` executes one list of steps per prompt. */
async function configure(site: Site, prompts: readonly (readonly object[])[]): Promise<string> {
  const script = join(site.root, 'acp.json');
  const config = join(site.root, 'sluice.config.json');
  await writeFile(script, JSON.stringify({ prompts }));
  // The scripted agent counts its prompts in a file next to the working folder, where it could not write in a sandbox.
  const agents = { fake: { acp: [process.execPath, AGENT, script] } };
  await writeFile(config, JSON.stringify({ agents, sandbox: { use: 'off' } }));
  return config;
}

function startAcp(site: Site, config: string) {
  const args = ['acp', '--engine', 'fake', '--data', site.data, '--config', config];
  const child = spawn(process.execPath, [BUNDLED_MAIN, ...args], {
    cwd: site.root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

it('an editor prompts an engine through the command, allows a tool, and finds the run in the store', async () => {
  const site = await makeSite();
  const child = startAcp(site, await configure(site, [[{ think: 'hm' }, { ask: EDIT }, { say: 'Done.' }]]));
  const updates: SessionUpdate[] = [];
  const { agent } = client({ name: 'editor' })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(methods.client.session.requestPermission, () => ({ outcome: { outcome: 'selected', optionId: 'yes' } }))
    .connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>));
  await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd: site.workdir, mcpServers: [] });
  const prompt = [{ type: 'text' as const, text: 'Do it.' }];
  const response = await agent.request(methods.agent.session.prompt, { sessionId, prompt });
  expect(response).toMatchObject({ stopReason: 'end_turn' });
  expect(updates.map(({ sessionUpdate }) => sessionUpdate)).toEqual(
    expect.arrayContaining(['agent_thought_chunk', 'tool_call', 'tool_call_update', 'agent_message_chunk']),
  );
  child.stdin.end();
  expect(await once(child, 'exit')).toEqual([0, null]);
  const [run = ''] = await readdir(join(site.data, 'runs'));
  expect(await replayRunFolder(join(site.data, 'runs', run))).toMatchObject({ status: 'same' });
  const store = await openStore(`sqlite:${join(site.data, 'sluice.db')}`);
  onTestFinished(async () => store.close());
  expect(await store.findRun(run)).toMatchObject({ state: 'ended', result: { status: 'success', text: 'Done.' } });
});

it('Sluice drives Sluice: both directions of the protocol in one run', async () => {
  const site = await makeSite();
  const config = await configure(site, [[{ think: 'hm' }, { ask: EDIT }, { say: 'One.' }], [{ say: '{"n":3}' }]]);
  const inner = join(site.root, 'inner');
  const words = [process.execPath, BUNDLED_MAIN, 'acp', '--engine', 'fake', '--data', inner, '--config', config];
  const { result, fcmp } = await runToEnd(
    {
      engine: 'sluice-acp',
      prompt: 'Do it.',
      workdir: site.workdir,
      // The inner Sluice keeps its data outside the working folder.
      sandbox: 'off',
      permissions: 'ask',
      contract: { schema: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } } },
      max_retries: 1,
    },
    { data: site.data, agents: { 'sluice-acp': { acp: words } } },
    {
      onEvent: (event, run) => {
        if (event.type !== 'permission.required') return;
        const option = event.data.options.find(({ kind }) => kind === 'allow_once');
        void run.reply({ interaction_id: event.data.interaction_id, option_id: option?.id ?? '' });
      },
    },
  );
  // The second attempt is a second process, which loads the first one's session.
  expect(result).toMatchObject({ status: 'success', value: { n: 3 }, attempts: 2 });
  const decisions = fcmp.flatMap((event) => (event.type === 'permission.replied' ? [event.data.decision] : []));
  expect(decisions).toEqual(['allow']);
  const calls = fcmp.flatMap((event) => (event.type === 'assistant.tool_call' ? [event.data] : []));
  expect(calls.at(-1)).toMatchObject({ status: 'completed' });
  const thoughts = fcmp.flatMap((event) => (event.type === 'assistant.reasoning' ? [event.data.text] : []));
  expect(thoughts).toContain('hm');
});

it('exits with a clear message for an engine that does not exist or cannot ask questions', async () => {
  const site = await makeSite();
  const unknown = startCommand(['acp', '--engine', 'none', '--data', site.data], site.root);
  expect(await unknown.exitCode).toBe(2);
  expect(unknown.printed.stderr).toContain('Unknown engine "none"');
  const mute = startCommand(['acp', '--engine', 'iflow', '--permissions', 'ask', '--data', site.data], site.root);
  expect(await mute.exitCode).toBe(2);
  expect(mute.printed.stderr).toContain('cannot ask');
});

it('responds to invalid input with a JSON-RPC error and continues', async () => {
  const site = await makeSite();
  const child = startAcp(site, await configure(site, [[]]));
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const send = (line: string): boolean => child.stdin.write(`${line}\n`);
  send('not JSON');
  send('[]');
  send('{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}');
  send('{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":1}}');
  await expect.poll(() => printed, { timeout: 60_000 }).toContain('"id":2');
  send('{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":7}}');
  send('{"jsonrpc":"2.0","id":4,"method":"no/such","params":{}}');
  child.stdin.end();
  expect(await once(child, 'exit')).toEqual([0, null]);
  const responses = printed
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly id: number | null; readonly error?: { readonly code: number } });
  const codes = new Map(responses.map(({ id, error }) => [id, error?.code]));
  expect(codes.get(1)).toBe(-32_600);
  expect(codes.get(2)).toBeUndefined();
  expect(codes.get(3)).toBe(-32_602);
  expect(codes.get(4)).toBe(-32_601);
  expect(responses.filter(({ id }) => id === null).map(({ error }) => error?.code)).toEqual([-32_700, -32_600]);
});
