import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { installTools } from '../scripts/install-tools.js';
import { PROJECT } from '../scripts/run-tool.js';
import { startCommand } from './start-command.js';
import { makeFolder } from './temporary-folder.js';

const SDK = join(PROJECT, 'test/fixtures/open-telemetry.mjs');
const TRACE = '0af7651916cd43dd8448eb211c80319c';
/** The exporter is one of them. */
beforeAll(async () => void (await installTools('tools/clients')));

const TRACEPARENT = `00-${TRACE}-b7ad6b7169203331-01`;

/** One OTLP span in JSON. */
interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly status: { readonly code?: number };
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

/** Starts a trace receiver on loopback: OTLP over HTTP, in JSON. */
async function startReceiver() {
  const spans: ReceivedSpan[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString()) as {
        resourceSpans: { scopeSpans: { spans: ReceivedSpan[] }[] }[];
      };
      spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const env = { NODE_OPTIONS: `--import=${SDK}`, OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
  const named = (name: string): ReceivedSpan[] => spans.filter((span) => span.name === name);
  return { spans, named, env };
}

/** Returns the value of an attribute. */
function read({ attributes }: ReceivedSpan, key: string): unknown {
  const value = attributes.find((attribute) => attribute.key === key)?.value ?? {};
  return value['stringValue'] ?? value['intValue'] ?? value['doubleValue'] ?? value['boolValue'];
}

const line = (record: object): string => `echo '${JSON.stringify(record)}'`;
/** An agent with Codex's output format: it uses a tool, answers, and writes its parent span to a file. */
const AGENT = [
  '#!/bin/sh',
  'printf %s "$TRACEPARENT" > traceparent.txt',
  line({ type: 'thread.started', thread_id: 't-1' }),
  line({ type: 'turn.started' }),
  line({ type: 'item.started', item: { id: 'i1', type: 'command_execution', command: 'ls', status: 'in_progress' } }),
  line({
    type: 'item.completed',
    item: {
      id: 'i1',
      type: 'command_execution',
      command: 'ls',
      aggregated_output: 'x',
      exit_code: 0,
      status: 'completed',
    },
  }),
  line({ type: 'item.completed', item: { id: 'i2', type: 'agent_message', text: 'The answer is confidential.' } }),
  line({ type: 'turn.completed', usage: { input_tokens: 11, cached_input_tokens: 0, output_tokens: 5 } }),
  '',
].join('\n');

describe('traces in a local OTLP receiver', () => {
  it('sluice run sends a trace of its agent, below TRACEPARENT, without content', async () => {
    const { spans, named, env } = await startReceiver();
    const folder = await makeFolder({ 'agent.sh': AGENT });
    const args = ['run', '--engine', 'command', '--format', 'codex', '--sandbox', 'off', '--', 'sh', 'agent.sh'];
    const { exitCode, printed } = startCommand(args, folder, { ...env, TRACEPARENT });
    expect({ exitCode: await exitCode, stderr: printed.stderr }).toMatchObject({ exitCode: 0 });
    const { run_id } = JSON.parse(printed.stdout) as { run_id: string };
    expect(spans.map(({ name }) => name).toSorted()).toEqual([
      'chat',
      'chat',
      expect.stringMatching(/^execute_tool /),
      'invoke_agent command',
    ]);
    const [agent] = named('invoke_agent command');
    if (agent === undefined) throw new Error('no span of the agent');
    expect(agent).toMatchObject({ traceId: TRACE, parentSpanId: 'b7ad6b7169203331' });
    expect(read(agent, 'sluice.run_id')).toBe(run_id);
    expect(Number(read(agent, 'gen_ai.usage.input_tokens'))).toBe(11);
    const childSpans = spans.filter((span) => span !== agent);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
    expect(new Set(childSpans.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([agent.spanId]));
    expect(JSON.stringify(spans)).not.toContain('confidential');
    // The agent's own spans are part of the trace.
    expect(await readFile(join(folder, 'traceparent.txt'), 'utf8')).toBe(`00-${TRACE}-${agent.spanId}-01`);
  });

  it("sluice serve sends spans for requests, orders and their runs in the caller's trace, with content if enabled", async () => {
    const { spans, named, env } = await startReceiver();
    const folder = await makeFolder({ 'agent.sh': AGENT, 'work/x': '' });
    const config = {
      data: join(folder, 'data'),
      roots: [join(folder, 'work')],
      sandbox: { use: 'off' },
      traces: { content: true, console_url: 'https://sluice.example.org' },
      wrappers: { worker: { type: 'script', command: ['sh', join(folder, 'agent.sh')] } },
      tokens: [{ name: 'ci', scopes: ['read', 'run'], value: 't'.repeat(32) }],
    };
    const file = join(await makeFolder({ 'sluice.config.json': JSON.stringify(config) }), 'sluice.config.json');
    // The TRACEPARENT of the server's own process is not the parent of its callers' work.
    const ambientTrace = { ...env, TRACEPARENT: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` };
    const server = startCommand(['serve', '--no-demo', '--port', '0', '--config', file], folder, ambientTrace);
    await expect.poll(() => server.printed.stdout, { timeout: 30_000 }).toMatch(/^http:\/\/\S+\n$/);
    const url = server.printed.stdout.trim();
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${'t'.repeat(32)}`,
      traceparent: TRACEPARENT,
    };
    const order = {
      issue_ref: 'acme/shop#1',
      role: 'qa',
      repo_dir: join(folder, 'work'),
      worker: 'worker',
      instructions: 'Look.',
    };
    const submitted = await fetch(`${url}/v1/orders`, { method: 'POST', headers, body: JSON.stringify(order) });
    expect(submitted.status).toBe(201);
    const { run } = (await submitted.json()) as { run: string };
    await expect
      .poll(async () => (await (await fetch(`${url}/v1/runs/${run}`, { headers })).json()) as object, {
        timeout: 30_000,
      })
      .toMatchObject({ state: 'ended' });
    server.child.kill('SIGTERM');
    await server.exitCode;
    const [request] = named('sluice.request submitOrder');
    expect(request).toMatchObject({ traceId: TRACE, parentSpanId: 'b7ad6b7169203331' });
    const [traced] = named('sluice.order');
    const [agent] = named('invoke_agent command');
    if (traced === undefined || agent === undefined) throw new Error(`spans: ${spans.map(({ name }) => name).join()}`);
    expect(traced).toMatchObject({ traceId: TRACE, parentSpanId: 'b7ad6b7169203331' });
    expect(read(traced, 'sluice.decision')).toBe('needs-human');
    expect(agent).toMatchObject({ traceId: TRACE, parentSpanId: traced.spanId });
    expect(read(agent, 'sluice.run_url')).toBe(`https://sluice.example.org/runs/${run}`);
    expect(JSON.stringify(agent)).toContain('confidential');
  });

  it('reports that variables request traces but no SDK is loaded', async () => {
    const folder = await makeFolder({ 'agent.sh': AGENT });
    const { env } = await startReceiver();
    const args = ['run', '--engine', 'command', '--format', 'codex', '--sandbox', 'off', '--', 'sh', 'agent.sh'];
    const { exitCode, printed } = startCommand(args, folder, { ...env, NODE_OPTIONS: '', TRACEPARENT });
    expect(await exitCode).toBe(0);
    expect(printed.stderr).toContain('no traces are sent: OTEL_* variables are set');
    // The agent still gets its parent span.
    expect(await readFile(join(folder, 'traceparent.txt'), 'utf8')).toBe(TRACEPARENT);
  });
});
