import { once } from 'node:events';
import { createServer, request as openRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

/** The model's reply to one request of the agent. */
export type ModelReply =
  | {
      readonly content: string;
      /** Sent to the sub-agent with this prompt, which can run beside the agent that started it. */
      readonly toSubAgent?: string;
    }
  | { readonly toolCalls: readonly ToolCall[] }
  | { readonly status: number; readonly error: { readonly message: string; readonly type: string } }
  /** The connection is closed in the middle of the response; applies to every request. */
  | 'cut';

export interface ToolCall {
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/** The part of an agent's request that tests inspect. */
export interface ModelRequest {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools: readonly string[];
}

/** A model on loopback that implements every agent's protocol and sends a test's replies. */
export interface ScriptedModel {
  readonly url: string;
  /** Requests for the work itself, without requests that offer no tools, for titles and the like. */
  readonly requests: readonly ModelRequest[];
  /** Checks whether a request contained this string anywhere: the mock omits images from `requests`. */
  hasReceived(text: string): boolean;
  stop(): Promise<void>;
}

export interface ModelOptions {
  /** The pause between chunks of an answer; without it the answer is sent in one chunk. */
  readonly pauseMs?: number;
  /** Whether the agent describes its tools in the prompt, so requests without tools are for the work too. */
  readonly hasToolsInPrompt?: boolean;
}

/** Starts a model that sends these replies in order, and repeats the last one. */
export async function startModel(
  replies: readonly [ModelReply, ...ModelReply[]],
  { pauseMs = 0, hasToolsInPrompt = false }: ModelOptions = {},
): Promise<ScriptedModel> {
  const { LLMock } = await loadMock();
  const mock = new LLMock({ port: 0, host: '127.0.0.1' });
  const requests: ModelRequest[] = [];
  const cuts = replies[0] === 'cut';
  const inOrder = replies.filter((reply) => typeof reply === 'string' || !('toSubAgent' in reply));
  let sent = 0;
  const answer = (request: MockRequest): ModelReply => {
    const tools = (request.tools ?? []).map((tool) => tool.function?.name ?? '');
    if (tools.length === 0 && !hasToolsInPrompt) return { content: 'A title' };
    requests.push({ messages: request.messages, tools });
    const own = replies.find((reply) => isForSubAgent(reply, request));
    if (own !== undefined) return own;
    sent += 1;
    return inOrder[sent - 1] ?? inOrder.at(-1) ?? replies[0];
  };
  mock.on({ predicate: () => true }, answer, { latency: pauseMs });
  await mock.start();
  const proxy = await startRecordingProxy(mock.url, cuts);
  return {
    url: proxy.url,
    requests,
    hasReceived: (text) => proxy.bodies.some((body) => body.includes(text)),
    async stop() {
      await proxy.stop();
      await mock.stop();
    },
  };
}

/** Whether the prompt of the request is the sub-agent's; the agent that wrote it has it in its own messages. */
function isForSubAgent(reply: ModelReply, { messages }: MockRequest): boolean {
  if (typeof reply === 'string' || !('toSubAgent' in reply) || reply.toSubAgent === undefined) return false;
  const prompt = reply.toSubAgent;
  const withPrompt = messages.filter((message) => JSON.stringify(message).includes(prompt));
  return withPrompt.length > 0 && withPrompt.every(({ role }) => role === 'user');
}

/** Starts a proxy in front of the mock that records requests. */
async function startRecordingProxy(target: string, cuts: boolean) {
  const bodies: Buffer[] = [];
  const server = createServer((request, response) => {
    const pass = async (): Promise<void> => {
      const body = await buffer(request);
      bodies.push(body);
      if (cuts) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        // Sent first; otherwise the client would see that the server never responded.
        response.write(': \n\n', () => response.destroy());
        return;
      }
      const { method, url = '/', headers } = request;
      const passed = openRequest(new URL(url, target), { method, headers }, (upstream) => {
        response.writeHead(upstream.statusCode ?? 502, upstream.headers);
        upstream.pipe(response);
      });
      passed.on('error', () => response.destroy());
      response.on('close', () => passed.destroy());
      passed.end(body);
    };
    pass().catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    bodies,
    async stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface MockRequest {
  readonly messages: ModelRequest['messages'];
  readonly tools?: readonly { readonly function?: { readonly name?: string } }[];
}

/** The part of the mock that is used here; its own types are available only if it is installed. */
interface Mock {
  on(
    match: { readonly predicate: () => boolean },
    answer: (request: MockRequest) => ModelReply,
    options: { readonly latency: number },
  ): void;
  start(): Promise<unknown>;
  stop(): Promise<void>;
  readonly url: string;
}

async function loadMock(): Promise<{ readonly LLMock: new (options: { port: number; host: string }) => Mock }> {
  const path = createRequire(import.meta.url).resolve('@copilotkit/aimock');
  return (await import(pathToFileURL(path).href)) as { LLMock: new (options: { port: number; host: string }) => Mock };
}
