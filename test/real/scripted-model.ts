import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** What the model says to one request of the agent. */
export type ModelReply =
  | { readonly content: string }
  | { readonly toolCalls: readonly ToolCall[] }
  | { readonly status: number; readonly error: { readonly message: string; readonly type: string } };

export interface ToolCall {
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/** What the agent asked, as far as tests look at it. */
export interface ModelRequest {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools: readonly string[];
}

/** A model on loopback that speaks the protocols of all the programs and says what the test wrote down. */
export interface ScriptedModel {
  readonly url: string;
  /** Requests of the work itself; those for titles and the like, which offer no tools, are left out. */
  readonly requests: readonly ModelRequest[];
  stop(): Promise<void>;
}

export interface ModelOptions {
  /** Between the pieces of an answer; the answer comes at once if not given. */
  readonly pauseMs?: number;
}

/** Starts a model that gives these replies in this order, and the last one for ever. */
export async function startModel(
  replies: readonly [ModelReply, ...ModelReply[]],
  { pauseMs = 0 }: ModelOptions = {},
): Promise<ScriptedModel> {
  const { LLMock } = await loadMock();
  const mock = new LLMock({ port: 0, host: '127.0.0.1' });
  const requests: ModelRequest[] = [];
  const answer = (request: MockRequest): ModelReply => {
    const tools = (request.tools ?? []).map((tool) => tool.function?.name ?? '');
    if (tools.length === 0) return { content: 'A title' };
    requests.push({ messages: request.messages, tools });
    return replies[requests.length - 1] ?? replies.at(-1) ?? replies[0];
  };
  mock.on({ predicate: () => true }, answer, { latency: pauseMs });
  await mock.start();
  return {
    url: mock.url,
    requests,
    async stop() {
      await mock.stop();
    },
  };
}

interface MockRequest {
  readonly messages: ModelRequest['messages'];
  readonly tools?: readonly { readonly function?: { readonly name?: string } }[];
}

/** The part of the mock that is used here; its own types are there only where it is installed. */
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
