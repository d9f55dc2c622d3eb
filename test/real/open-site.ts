import { join } from 'node:path';
import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk';
import { expect, onTestFinished } from 'vitest';
import { silentLogger } from '../../src/base/index.js';
import { createLead } from '../../src/orders/index.js';
import { DEFAULT_LEASE_MS, startWorker } from '../../src/orders/dispatch/index.js';
import { WRAPPER_ENGINES } from '../../src/orders/wrappers/wrappers.js';
import { serveAcp } from '../../src/server/acp/index.js';
import { createServer } from '../../src/server/create-server.js';
import { openStore } from '../../src/store/index.js';
import type { RunResult, RunSpec } from '../../src/store/records/index.js';
import type { Stage } from './stage.js';

/** Why a run failed. */
export type Failure = { readonly code?: string | undefined; readonly cause?: string | undefined } | undefined;

export type Site = Awaited<ReturnType<typeof openSite>>;

/** Opens a server with a worker, and an ACP server, for the current test. */
export async function openSite(opened: Stage, limits: NonNullable<RunSpec['limits']>) {
  // Without its fixed id, because several runs share the stage.
  const { newId: _, ...rest } = opened.ports;
  const data = join(opened.root, 'data');
  const ports = { ...rest, data };
  const stage = { ...opened, ports };
  const { spec } = stage;
  const store = await openStore('memory:');
  const type = Object.keys(WRAPPER_ENGINES).find((name) => WRAPPER_ENGINES[name] === opened.spec.engine) ?? '';
  const { env = [], model } = spec;
  const wrappers = { [type]: { type, env, limits, ...(model === undefined ? {} : { model }) } };
  const lead = createLead({ store, data, wrappers });
  const server = createServer({ store, lead, wrappers, data, settings: { roots: [stage.root], env } });
  const worker = startWorker({ store, lead, runs: ports, pollMs: 200 });
  onTestFinished(async () => {
    await worker.stop({ graceMs: 0 });
    server.end();
    await lead.close();
    await store.close();
    await stage.remove();
  });
  const context = {
    store,
    lead,
    runs: ports,
    leaseMs: DEFAULT_LEASE_MS,
    clock: () => store.now(),
    logger: silentLogger,
    signal: new AbortController().signal,
  };
  return {
    stage,
    store,
    async post(path: string, body: unknown, status = 201): Promise<Record<string, unknown>> {
      const headers = { 'content-type': 'application/json' };
      const response = await server.app.request(path, { method: 'POST', headers, body: JSON.stringify(body) });
      expect(response.status).toBe(status);
      return (await response.json()) as Record<string, unknown>;
    },
    async get<Answer>(path: string): Promise<Answer> {
      return (await (await server.app.request(path)).json()) as Answer;
    },
    async waitForResult(id: string): Promise<RunResult> {
      await expect
        .poll(async () => (await this.get<{ readonly state: string }>(`/v1/runs/${id}`)).state, {
          timeout: 600_000,
          interval: 250,
        })
        .toBe('ended');
      return (await this.get<{ readonly result: RunResult }>(`/v1/runs/${id}`)).result;
    },
    async waitForRun(id: string): Promise<Failure> {
      return (await this.waitForResult(id)).error;
    },
    async prompt({ workdir, engine, model: requested, env: names }: RunSpec): Promise<Failure> {
      const toServer = new TransformStream<Uint8Array, Uint8Array>();
      const toClient = new TransformStream<Uint8Array, Uint8Array>();
      const served = serveAcp({
        context,
        spec: {
          engine,
          permissions: 'safe',
          ...(names === undefined ? {} : { env: names }),
          limits,
          ...(requested === undefined ? {} : { model: requested }),
        },
        input: toServer.readable,
        output: toClient.writable,
      });
      const connection = client({ name: 'editor' }).connect(ndJsonStream(toServer.writable, toClient.readable));
      const { agent } = connection;
      try {
        await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
        const { sessionId } = await agent.request(methods.agent.session.new, { cwd: workdir, mcpServers: [] });
        const text = { type: 'text', text: 'Say hello.' } as const;
        await agent.request(methods.agent.session.prompt, { sessionId, prompt: [text] });
        return undefined;
      } catch (error) {
        return (error as { readonly data?: Failure }).data;
      } finally {
        connection.close();
        await toServer.writable.close().catch(() => undefined);
        await served;
      }
    },
  };
}
