import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { cutBytes, cutText } from './cut-awkwardly.js';
import type { Script } from './script.js';
import { chatCompletions } from './wire/chat-completions.js';
import { messages } from './wire/messages.js';
import { responses } from './wire/responses.js';
import type { ServerSentEvent, Utterance, Wire } from './wire/wire.js';

const WIRES: Readonly<Record<string, Wire>> = {
  '/v1/chat/completions': chatCompletions,
  '/v1/responses': responses,
  '/v1/messages': messages,
};

const Call = z.object({ model: z.string(), stream: z.literal(true) });

/** The maximum request size, in bytes. */
const MAX_CALL_LENGTH = 64 * 1024;
/** How long a model waits for the client to disconnect; one that stays connected gets the rest. */
const DISCONNECT_TIMEOUT_MS = 20_000;

/** The server's report on a call. */
export interface CallReport {
  readonly model: string;
  readonly sent: number;
  /** The number of chunks in the complete answer. */
  readonly pieces: number;
  readonly ending: 'answered' | 'provider failed' | 'client disconnected';
}

/** A running model. */
export interface ScriptedModel {
  readonly url: string;
  /** Waits for open calls and returns the reports of all calls, in order. */
  close(): Promise<readonly CallReport[]>;
}

/**
 * Starts a model on loopback that sends its scripts, in OpenAI's and in Anthropic's protocol. The `model` of a call
 * selects the script. Answers are split at the worst positions, both as text and as bytes.
 */
export async function startScriptedModel(scripts: Readonly<Record<string, Script>>): Promise<ScriptedModel> {
  const reports: Promise<CallReport>[] = [];
  const server = createServer((request, response) => {
    response.setHeader('connection', 'close');
    const report = handleCall(request, response, scripts);
    reports.push(report);
    // If a call fails, `close` rejects with its error.
    report.catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      try {
        return await Promise.all(reports);
      } finally {
        server.close();
        // A client might have opened a connection for its next call, and would keep it for seconds.
        server.closeAllConnections();
      }
    },
  };
}

async function handleCall(
  request: IncomingMessage,
  response: ServerResponse,
  scripts: Readonly<Record<string, Script>>,
): Promise<CallReport> {
  const { model } = Call.parse(JSON.parse(await readBody(request)));
  const wire = WIRES[request.url ?? ''];
  const script = Object.hasOwn(scripts, model) ? scripts[model] : undefined;
  if (wire === undefined || script === undefined) throw new Error(`No script "${model}" for ${request.url}.`);

  const disconnected = new AbortController();
  response.on('close', () => disconnected.abort());
  const call = new RecordedCall(model, script);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  try {
    await pipeline(toBytes(wire(model, call.record(sendScript(script, disconnected.signal)))), response);
    return call.report('answered');
  } catch (error) {
    if (!disconnected.signal.aborted) throw error;
    return call.report('client disconnected');
  }
}

/** Counts the chunks that a model sends. */
class RecordedCall {
  private readonly model: string;
  private readonly pieces: number;
  private sent = 0;
  private failed = false;

  constructor(model: string, { thinking = '', text, then }: Script) {
    const rest = then?.kind === 'more' ? then.text : '';
    this.model = model;
    this.pieces = [thinking, text, rest].flatMap(cutText).length;
  }

  async *record(utterances: AsyncIterable<Utterance>): AsyncGenerator<Utterance> {
    for await (const utterance of utterances) {
      if (utterance.kind === 'error') this.failed = true;
      else this.sent++;
      yield utterance;
    }
  }

  /** After an error, the client may or may not disconnect before the answer ends. */
  report(ending: CallReport['ending']): CallReport {
    const { model, sent, pieces } = this;
    return { model, sent, pieces, ending: this.failed ? 'provider failed' : ending };
  }
}

async function* sendScript(
  { thinking = '', text, then }: Script,
  disconnected: AbortSignal,
): AsyncGenerator<Utterance> {
  for (const piece of cutText(thinking)) yield { kind: 'thinking', piece };
  for (const piece of cutText(text)) yield { kind: 'text', piece };
  switch (then?.kind) {
    case 'more':
      await setTimeout(DISCONNECT_TIMEOUT_MS, undefined, { signal: disconnected });
      for (const piece of cutText(then.text)) yield { kind: 'text', piece };
      return;
    case 'error':
      yield { kind: 'error', piece: then.message };
      return;
    case undefined:
  }
}

async function* toBytes(events: AsyncIterable<ServerSentEvent>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const { event, data } of events) {
    const name = event === undefined ? '' : `event: ${event}\n`;
    const line = typeof data === 'string' ? data : JSON.stringify(data);
    for (const slice of cutBytes(encoder.encode(`${name}data: ${line}\n\n`))) {
      yield slice;
      // A slice written in a separate event loop turn is a separate packet.
      await setImmediate();
    }
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_CALL_LENGTH) throw new Error('The call is too long.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
