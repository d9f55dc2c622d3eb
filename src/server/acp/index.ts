import { once } from 'node:events';
import { PROTOCOL_VERSION, RequestError, agent, methods, ndJsonStream } from './sdk.js';
import type { AgentContext, SessionModeState } from '@agentclientprotocol/sdk';
import { getErrorMessage, isSluiceError } from '../../base/index.js';
import type { WorkContext } from '../../orders/dispatch/index.js';
import type { Store } from '../../store/index.js';
import { VERSION } from '../../base/files/index.js';
import type { RunResult } from '../../store/records/index.js';
import { AcpSessions, createBusyError, type Permissions, type TurnSpec } from './acp-sessions.js';
import type { TurnClient } from './run-turn.js';
import type { StoredSession } from './session-files.js';

export type { Permissions } from './acp-sessions.js';

export interface AcpServerOptions {
  readonly context: WorkContext<Store>;
  readonly spec: TurnSpec;
  /** Whether the client's MCP servers are ignored instead of being passed to the engine. */
  readonly ignoreServers?: boolean;
  readonly input: ReadableStream<Uint8Array>;
  readonly output: WritableStream<Uint8Array>;
  readonly signal?: AbortSignal;
}

/** A longer message closes the connection. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
const MAX_REQUESTS = 256;
/** A longer value is not sent; it is in the run's result. */
const MAX_VALUE_LENGTH = 64 * 1024;

/**
 * Serves a client of the Agent Client Protocol, such as an editor. Every prompt is a run, which is captured, validated
 * against its contract and recorded in the store. Resolves when the client has disconnected and its runs have ended.
 */
export async function serveAcp({ context, spec, ignoreServers, ...connected }: AcpServerOptions): Promise<void> {
  const { input, output, signal } = connected;
  const sessions = new AcpSessions(context, spec, ignoreServers);
  let who = 'an ACP client';
  let requests = 0;
  const disconnected = new AbortController();

  /** Wraps a handler: limits open requests, and converts errors to protocol errors. */
  const handle =
    <Params, Response>(handler: (request: { params: Params; client: AgentContext }) => Promise<Response>) =>
    async (request: { params: Params; client: AgentContext }): Promise<Response> => {
      requests += 1;
      try {
        if (requests > MAX_REQUESTS)
          throw createBusyError(`Too many open requests: at most ${MAX_REQUESTS}. Wait until some have ended.`);
        return await handler(request);
      } catch (error) {
        throw toRequestError(error);
      } finally {
        requests -= 1;
      }
    };

  const app = agent({ name: 'sluice' })
    .onRequest(methods.agent.initialize, async ({ params }) => {
      who = (params.clientInfo?.title ?? params.clientInfo?.name ?? who).slice(0, 100);
      const { attachments, mcpServers } = await sessions.findAcceptedInputs();
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: 'sluice', title: `Sluice (${spec.engine})`, version: VERSION },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: {
            image: attachments.includes('image'),
            audio: attachments.includes('audio'),
            // Text files become part of the prompt, so every engine accepts them.
            embeddedContext: true,
          },
          mcpCapabilities: { http: mcpServers.includes('http'), sse: mcpServers.includes('sse') },
          sessionCapabilities: { resume: {} },
        },
        authMethods: [],
      };
    })
    .onRequest(methods.agent.authenticate, () => ({}))
    .onRequest(
      methods.agent.session.new,
      handle(async ({ params }) => {
        const session = await sessions.create(params);
        return { sessionId: session.id, modes: listModes(session) };
      }),
    )
    .onRequest(
      methods.agent.session.load,
      handle(async ({ params, client }) => {
        const session = await sessions.load(params.sessionId, params);
        for await (const update of sessions.replay(session.id))
          await send(client, disconnected.signal, session.id, update);
        return { modes: listModes(session) };
      }),
    )
    .onRequest(
      methods.agent.session.resume,
      handle(async ({ params: { sessionId, cwd, mcpServers = [] } }) => ({
        modes: listModes(await sessions.load(sessionId, { cwd, mcpServers })),
      })),
    )
    .onRequest(
      methods.agent.session.setMode,
      handle(async ({ params }) => {
        await sessions.setMode(params.sessionId, params.modeId);
        return {};
      }),
    )
    .onRequest(
      methods.agent.session.prompt,
      handle(async ({ params, client }) => {
        const { sessionId } = params;
        const turnClient: TurnClient = {
          who,
          update: async (update) => send(client, disconnected.signal, sessionId, update),
          ask: async (permission, cancellationSignal) => {
            const request = { sessionId, ...structuredClone(permission) } as never;
            const options = { cancellationSignal, stopWaitingOnCancel: true };
            const { outcome } = await client.request(methods.client.session.requestPermission, request, options);
            return outcome.outcome === 'selected' && 'optionId' in outcome
              ? { optionId: outcome.optionId }
              : 'cancelled';
          },
        };
        const { run, result } = await sessions.prompt(sessionId, params.prompt, turnClient);
        return toPromptResponse(run, result);
      }),
    )
    .onNotification(methods.agent.session.cancel, async ({ params }) => sessions.cancel(params.sessionId));

  const connection = app.connect(ndJsonStream(output, input, { maxMessageBytes: MAX_MESSAGE_BYTES }));
  const close = (): void => connection.close();
  if (signal?.aborted === true) close();
  signal?.addEventListener('abort', close, { once: true });
  await connection.closed.catch(() => undefined);
  signal?.removeEventListener('abort', close);
  disconnected.abort();
  await sessions.end();

  function listModes({ engine, permissions }: StoredSession): SessionModeState {
    return {
      currentModeId: permissions,
      availableModes: sessions.listModes(engine).map((id) => ({ id, ...MODES[id] })),
    };
  }
}

const MODES: Readonly<Record<Permissions, { readonly name: string; readonly description: string }>> = {
  safe: { name: 'Read only', description: 'The agent may only read.' },
  workspace: { name: 'Edit the folder', description: 'The agent may also edit the working folder.' },
  ask: { name: 'Ask', description: 'Rules decide what the agent may do; if no rule applies, you are asked.' },
  bypass: { name: 'Everything', description: 'The agent may do anything without asking.' },
};

/** Sends an update; rejects when the client disconnects, even if it had stopped reading before. */
async function send(client: AgentContext, disconnected: AbortSignal, sessionId: string, update: object): Promise<void> {
  disconnected.throwIfAborted();
  const finished = new AbortController();
  const disconnection = once(disconnected, 'abort', { signal: finished.signal }).then(() =>
    disconnected.throwIfAborted(),
  );
  disconnection.catch(() => undefined);
  try {
    await Promise.race([client.notify(methods.client.session.update, { sessionId, update } as never), disconnection]);
  } finally {
    finished.abort();
  }
}

/** Converts a run's result to a prompt response. If the run failed, throws an error that contains the run id. */
function toPromptResponse(run: string, result: RunResult) {
  const { status, value, error, repair_level, warnings, usage } = result;
  if (status === 'failed') {
    const { code = 'RUN_FAILED', message = 'The run failed.', cause } = error ?? {};
    throw new RequestError(-32_603, message, { code, run_id: run, ...(cause === undefined ? {} : { cause }) });
  }
  const isSent = value !== undefined && JSON.stringify(value).length <= MAX_VALUE_LENGTH;
  const sluice = { run_id: run, status, repair_level, warnings, ...(isSent ? { value } : {}) };
  return {
    stopReason: status === 'canceled' ? ('cancelled' as const) : ('end_turn' as const),
    ...(usage === undefined ? {} : { usage: toAcpUsage(usage) }),
    _meta: { sluice },
  };
}

/** Clients ignore a usage without a total: the protocol requires all three counts. */
function toAcpUsage({ input_tokens, output_tokens, total_tokens }: NonNullable<RunResult['usage']>) {
  return {
    inputTokens: input_tokens,
    outputTokens: output_tokens,
    totalTokens: total_tokens ?? input_tokens + output_tokens,
  };
}

/** Converts an error. JSON-RPC has few error codes, so Sluice's code is sent in `data`. */
function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  if (!isSluiceError(error)) return new RequestError(-32_603, getErrorMessage(error), { code: 'INTERNAL' });
  return new RequestError(JSON_RPC_CODES[error.code] ?? -32_603, error.message, { code: error.code });
}

const JSON_RPC_CODES: Readonly<Record<string, number>> = {
  ACP_SESSION_NOT_FOUND: -32_002,
  ACP_BUSY: -32_600,
  ACP_INVALID_REQUEST: -32_602,
};
