import { EventEmitter, once } from 'node:events';
import { createUlidGenerator, getErrorMessage, SluiceError } from '../../base/index.js';
import {
  createAcpProjection,
  toAcpPermission,
  type AcpUpdate,
  type FcmpEvent,
  type AcpPermission,
} from '../../events/index.js';
import { runInProcess, type WorkContext } from '../../orders/dispatch/index.js';
import type { Store } from '../../store/index.js';
import { encodeReply, type RunResult, type RunSpec } from '../../store/records/index.js';
import {
  type Run,
  type RunInputs,
  findUnsupported,
  type Attachment,
  type AcceptedInputs,
  type McpServer,
} from '../../runs/index.js';
import type { RunStore } from '../../store/ports/index.js';
import type { ContentBlock, McpServer as AcpMcpServer } from '@agentclientprotocol/sdk';

export interface TurnClient extends Pick<RelayOptions, 'ask' | 'who'> {
  /** Sends an update; resolves when the client has room for more. */
  update(update: AcpUpdate): Promise<void>;
}

interface Turn {
  readonly id: string;
  /** Its position in the session, from 1. */
  readonly number: number;
  readonly spec: RunSpec;
  readonly inputs: RunInputs;
  /** Called when the run is in the store and has started. */
  readonly onStart: () => void;
}

/** Executes a prompt as a run and sends its updates to the client as they happen. */
export async function runTurn(context: WorkContext<Store>, turn: Turn, client: TurnClient): Promise<RunResult> {
  const { id, number, spec, inputs, onStart } = turn;
  const { store } = context;
  const relay = new PermissionRelay({ store, runId: id, who: client.who, ask: prefixToolCallId(client.ask, number) });
  let followed: Promise<void> | undefined;
  try {
    const result = await runInProcess(context, {
      id,
      spec,
      inputs,
      onRun: (run) => {
        followed = follow(run, number, client, relay);
        onStart();
      },
    });
    await followed;
    return result;
  } finally {
    relay.end();
  }
}

export const createId = createUlidGenerator();

async function follow(run: Run, number: number, client: TurnClient, relay: PermissionRelay): Promise<void> {
  const translate = createTurnUpdates(number);
  try {
    for await (const { protocol, event } of run.events) {
      if (protocol !== 'fcmp') continue;
      for (const update of translate(event)) await client.update(update);
      // After the updates, so the client has already received a permission request's tool call.
      relay.onEvent(event);
    }
  } catch {
    // Either the client has disconnected, which ends the run, or the log is broken, which the result reports.
    relay.end();
  }
}

/** Events that are not sent: permissions are requested separately, and raw output is in the run folder. */
const OMITTED_TYPES: ReadonlySet<FcmpEvent['type']> = new Set([
  'raw.stdout',
  'raw.stderr',
  'permission.required',
  'permission.replied',
]);

/** Translates the events of one turn. From the second on, ids get a prefix: engines number each run from 1. */
export function createTurnUpdates(number: number): (event: FcmpEvent) => AcpUpdate[] {
  const projection = createAcpProjection();
  return (event) => {
    if (OMITTED_TYPES.has(event.type)) return [];
    // The client wrote the prompt; those of sub-agents are news.
    if (event.type === 'user.message' && event.data.parent_tool_call_id === undefined) return [];
    return projection.push(event).map(({ update }) => {
      if ('toolCallId' in update) return { ...update, toolCallId: prefixId(update.toolCallId, number) };
      return 'messageId' in update ? { ...update, messageId: prefixId(update.messageId, number) } : update;
    });
  };
}

function prefixId(id: string, number: number): string {
  return number === 1 ? id : `t${number}/${id}`;
}

function prefixToolCallId(ask: RelayOptions['ask'], number: number): RelayOptions['ask'] {
  return async ({ toolCall, options }, signal) =>
    ask({ toolCall: { ...toolCall, toolCallId: prefixId(toolCall.toolCallId, number) }, options }, signal);
}

/** The client's answer: one of the options, or `cancelled` if the turn was canceled. */
type PermissionOutcome = { readonly optionId: string } | 'cancelled';

/** An answer that the store does not accept yet is posted again after this time, even if no request was closed. */
const RETRY_MS = 500;

interface RelayOptions {
  readonly store: Pick<RunStore, 'findRun' | 'postReply'>;
  readonly runId: string;
  /** The name of the user who answers, for the record. */
  readonly who: string;
  /** Asks the client; the signal is aborted when the answer is no longer needed. */
  ask(permission: AcpPermission, signal: AbortSignal): Promise<PermissionOutcome>;
}

/**
 * Passes a run's permission requests to the client, and its answers to the store, which also receives answers from the
 * console. The first answer counts.
 */
export class PermissionRelay {
  readonly #options: RelayOptions;
  readonly #open = new Map<string, AbortController>();
  /** Emits `close` when a request is closed: the run has read an answer, so the store accepts the next one. */
  readonly #events = new EventEmitter().setMaxListeners(0);

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  /** Must be called with each of the run's events. */
  onEvent(event: FcmpEvent): void {
    if (event.type === 'permission.required') void this.#ask(event);
    else if (event.type === 'permission.replied') this.#close(event.data.interaction_id);
  }

  /** Withdraws all open requests; called when the run has ended. */
  end(): void {
    for (const id of this.#open.keys()) this.#close(id);
  }

  #close(id: string): void {
    this.#open.get(id)?.abort();
    this.#open.delete(id);
    this.#events.emit('close');
  }

  async #ask(event: FcmpEvent<'permission.required'>): Promise<void> {
    const { interaction_id: id, options } = event.data;
    const { store, runId } = this.#options;
    const controller = new AbortController();
    this.#open.set(id, controller);
    // If a rule decides the request, the run does not wait, and the client is not asked.
    const record = await store.findRun(runId).catch(() => undefined);
    if (record !== undefined && record.state !== 'waiting') return;
    // Another client might have answered meanwhile.
    if (controller.signal.aborted) return;
    let optionId: string | undefined;
    let reason: string | undefined;
    try {
      const outcome = await this.#options.ask(toAcpPermission(event), controller.signal);
      if (outcome !== 'cancelled') optionId = options.find((option) => option.id === outcome.optionId)?.id;
      if (outcome !== 'cancelled' && optionId === undefined)
        reason = 'The client chose an option that was not offered.';
    } catch (error) {
      reason = `The client did not answer the permission request: ${getErrorMessage(error)}`.slice(0, 500);
    }
    // A missing or invalid answer counts as a rejection.
    optionId ??= options.find(({ kind }) => kind.startsWith('reject'))?.id;
    if (optionId === undefined) return;
    await this.#post(id, optionId, reason).catch(() => undefined);
  }

  async #post(id: string, optionId: string, reason: string | undefined): Promise<void> {
    const { store, runId, who } = this.#options;
    const reply = { interaction_id: id, option_id: optionId, who, ...(reason === undefined ? {} : { why: reason }) };
    while (this.#open.has(id)) {
      if ((await store.postReply(runId, encodeReply(reply))) !== 'not_waiting') return;
      // The run has not read the previous answer yet.
      await once(this.#events, 'close', { signal: AbortSignal.timeout(RETRY_MS) }).catch(() => undefined);
    }
  }
}

/** Maximum number of attachments per prompt; their size is limited by the message size. */
const MAX_ATTACHMENTS = 32;

/**
 * Reads a client's prompt: text, links to files, and the content of text files become its text. Images, audio and other
 * files become attachments if the engine accepts them, with a label in the text. Throws `ACP_INVALID_REQUEST` for
 * inputs that the engine does not accept.
 *
 * @example
 * readPrompt([{ type: 'text', text: 'Explain ' }, { type: 'resource_link', name: 'a.ts', uri: 'file:///w/a.ts' }],
 * engine) // { text: 'Explain [a.ts](file:///w/a.ts)', attachments: [] }
 */
export function readPrompt(
  blocks: readonly ContentBlock[],
  engine: { readonly name: string; readonly accepts: AcceptedInputs },
): { readonly text: string; readonly attachments: readonly Attachment[] } {
  const attachments: Attachment[] = [];
  const attach = (attachment: Attachment): string => {
    const problem = findUnsupported({ attachments: [attachment], mcpServers: [] }, engine.accepts);
    if (problem !== undefined)
      throw createRequestError(
        `${engine.name} does not accept ${problem}. Put the file in the working folder and refer to it by its path.`,
      );
    if (attachments.push(attachment) > MAX_ATTACHMENTS)
      throw createRequestError(`The prompt has too many attachments: at most ${MAX_ATTACHMENTS}. Send fewer.`);
    return `[${LABELS[attachment.kind]} ${attachments.length}]`;
  };
  const text = blocks.map((block) => readBlock(block, attach)).join('');
  if (text.trim() === '') throw createRequestError('The prompt is empty. Send some text.');
  return { text, attachments };
}

const LABELS: Readonly<Record<Attachment['kind'], string>> = { image: 'Image', audio: 'Audio', file: 'File' };

function readBlock(block: ContentBlock, attach: (attachment: Attachment) => string): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource_link':
      return `[${block.name}](${block.uri})`;
    case 'image':
    case 'audio': {
      const uri = 'uri' in block ? block.uri : undefined;
      return attach({ kind: block.type, ...readBytes(block.data, block.mimeType, block.type), ...readUri(uri) });
    }
    case 'resource': {
      const { resource } = block;
      const { uri, mimeType } = resource;
      if ('text' in resource) return `\n\n<file uri=${JSON.stringify(uri)}>\n${resource.text}\n</file>\n\n`;
      return attach({
        kind: 'file',
        ...readBytes(resource.blob, mimeType ?? 'application/octet-stream'),
        ...readUri(uri),
      });
    }
  }
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/u;
const MIME_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/u;

function readBytes(data: string, mimeType: string, kind = '') {
  if (!BASE64.test(data)) throw createRequestError('An attachment is not valid base64. Send it again.');
  if (!MIME_TYPE.test(mimeType) || !mimeType.startsWith(kind))
    throw createRequestError(
      `An attachment has an invalid MIME type: ${JSON.stringify(mimeType).slice(0, 100)}. Send an image, audio or a file.`,
    );
  return { data, mimeType };
}

function readUri(uri: string | null | undefined) {
  return typeof uri === 'string' && uri.length <= 4096 ? { uri } : {};
}

/** Creates the error for a request that cannot be fulfilled as it is; the message explains what to change. */
export function createRequestError(message: string): SluiceError {
  return new SluiceError('ACP_INVALID_REQUEST', message);
}

const MAX_SERVERS = 64;

/**
 * Reads the MCP servers that a client wants the engine to use. Throws `ACP_INVALID_REQUEST` if the engine does not
 * accept them, because without their tools it would not do what the user expects.
 *
 * @example
 * readServers([{ name: 'docs', command: 'docs-mcp', args: [], env: [] }], engine) // [{ type: 'stdio', name: 'docs', …
 * }]
 */
export function readServers(
  requested: readonly AcpMcpServer[],
  engine: { readonly name: string; readonly accepts: AcceptedInputs },
): McpServer[] {
  if (requested.length > MAX_SERVERS)
    throw createRequestError(`Too many MCP servers: at most ${MAX_SERVERS}. Configure fewer in the client.`);
  const servers = requested.map(readServer);
  const problem = findUnsupported({ attachments: [], mcpServers: servers }, engine.accepts);
  if (problem === undefined) return servers;
  throw createRequestError(
    `${engine.name} does not accept ${problem} from its client. Use another engine, or start sluice acp with --ignore-mcp-servers.`,
  );
}

function readServer(server: AcpMcpServer): McpServer {
  if (!('type' in server)) {
    const { name, command, args, env } = server;
    return { type: 'stdio', name, command, args, env };
  }
  const { type, name, url, headers } = server;
  return { type, name, url, headers };
}
