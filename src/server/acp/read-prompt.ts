import type { McpServer as AcpMcpServer } from '@agentclientprotocol/sdk';
import { SluiceError } from '../../base/index.js';
import { findUnsupported, type Attachment, type AcceptedInputs, type McpServer } from '../../runs/index.js';

export interface PromptBlock {
  readonly type: string;
  readonly text?: unknown;
  readonly uri?: unknown;
  readonly name?: unknown;
  readonly data?: unknown;
  readonly mimeType?: unknown;
  readonly resource?: unknown;
}

interface PromptContent {
  readonly text: string;
  readonly attachments: readonly Attachment[];
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
  blocks: readonly PromptBlock[],
  engine: { readonly name: string; readonly accepts: AcceptedInputs },
): PromptContent {
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

function readBlock(block: PromptBlock, attach: (attachment: Attachment) => string): string {
  switch (block.type) {
    case 'text':
      return toText(block.text);
    case 'resource_link':
      return `[${toText(block.name)}](${toText(block.uri)})`;
    case 'image':
    case 'audio':
      return attach({ kind: block.type, ...readBytes(block.data, block.mimeType, block.type), ...readUri(block.uri) });
    case 'resource': {
      const resource: Readonly<Record<string, unknown>> =
        typeof block.resource === 'object' ? { ...block.resource } : {};
      const { text, blob, uri, mimeType } = resource;
      if (typeof text === 'string') return `\n\n<file uri=${JSON.stringify(toText(uri))}>\n${text}\n</file>\n\n`;
      return attach({ kind: 'file', ...readBytes(blob, mimeType ?? 'application/octet-stream'), ...readUri(uri) });
    }
    default:
      throw createRequestError(
        `The prompt has a block of type "${block.type}". Send only text, links, images, audio and files.`,
      );
  }
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/u;
const MIME_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/u;

function readBytes(data: unknown, mimeType: unknown, kind = '') {
  if (typeof data !== 'string' || !BASE64.test(data))
    throw createRequestError('An attachment is not valid base64. Send it again.');
  if (typeof mimeType !== 'string' || !MIME_TYPE.test(mimeType) || !mimeType.startsWith(kind))
    throw createRequestError(
      `An attachment has an invalid MIME type: ${JSON.stringify(mimeType)?.slice(0, 100) ?? 'none'}. Send an image, audio or a file.`,
    );
  return { data, mimeType };
}

function readUri(uri: unknown) {
  return typeof uri === 'string' && uri.length <= 4096 ? { uri } : {};
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
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
