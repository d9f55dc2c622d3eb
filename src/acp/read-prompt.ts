import { SluiceError } from '../base/index.js';
import { findUnsupported } from '../runs/index.js';
import type { Attachment, AcceptedInputs } from '../runs/index.js';

/** A block of a prompt, as far as it is read here. */
export interface PromptBlock {
  readonly type: string;
  readonly text?: unknown;
  readonly uri?: unknown;
  readonly name?: unknown;
  readonly data?: unknown;
  readonly mimeType?: unknown;
  readonly resource?: unknown;
}

/** A prompt: the text, and what goes with it. */
export interface ReadPrompt {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

/** Attachments of one prompt; their size is bounded by the size of a message. */
const MAX_ATTACHMENTS = 32;

/**
 * Reads the prompt of a client: what the person wrote, names of the files it points to, and text files as text. Images,
 * audio and other files go with it if the engine takes them; the text says where each belongs. Throws
 * `ACP_PROMPT_UNSUPPORTED` for what the engine does not take.
 *
 * @example
 * readPrompt([{ type: 'text', text: 'Explain ' }, { type: 'resource_link', name: 'a.ts', uri: 'file:///w/a.ts' }], engine)
 * // { text: 'Explain [a.ts](file:///w/a.ts)', attachments: [] }
 */
export function readPrompt(
  blocks: readonly PromptBlock[],
  engine: { readonly name: string; readonly accepts: AcceptedInputs },
): ReadPrompt {
  const attachments: Attachment[] = [];
  const attach = (attachment: Attachment): string => {
    const what = findUnsupported({ attachments: [attachment], mcpServers: [] }, engine.accepts);
    if (what !== undefined)
      throw unsupported(
        `${engine.name} does not accept ${what}. Put the file into the working folder and mention its path.`,
      );
    if (attachments.push(attachment) > MAX_ATTACHMENTS)
      throw unsupported(`The prompt has too many images and files: at most ${MAX_ATTACHMENTS}.`);
    return `[${LABELS[attachment.kind]} ${attachments.length}]`;
  };
  const text = blocks.map((block) => readBlock(block, attach)).join('');
  if (text.trim() === '') throw unsupported('The prompt is empty. Send some text.');
  return { text, attachments };
}

const LABELS: Readonly<Record<Attachment['kind'], string>> = { image: 'Image', audio: 'Audio', file: 'File' };

function readBlock(block: PromptBlock, attach: (attachment: Attachment) => string): string {
  switch (block.type) {
    case 'text':
      return asText(block.text);
    case 'resource_link':
      return `[${asText(block.name)}](${asText(block.uri)})`;
    case 'image':
    case 'audio':
      return attach({ kind: block.type, ...readBytes(block.data, block.mimeType, block.type), ...readUri(block.uri) });
    case 'resource': {
      const resource: Readonly<Record<string, unknown>> =
        typeof block.resource === 'object' ? { ...block.resource } : {};
      const { text, blob, uri, mimeType } = resource;
      if (typeof text === 'string') return `\n\n<file uri=${JSON.stringify(asText(uri))}>\n${text}\n</file>\n\n`;
      return attach({ kind: 'file', ...readBytes(blob, mimeType ?? 'application/octet-stream'), ...readUri(uri) });
    }
    default:
      throw unsupported(`The prompt has a block of type "${block.type}". Send only text, links, images and files.`);
  }
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/u;
const MIME_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/u;

function readBytes(data: unknown, mimeType: unknown, kind = '') {
  if (typeof data !== 'string' || !BASE64.test(data)) throw unsupported('An attachment is not base64.');
  if (typeof mimeType !== 'string' || !MIME_TYPE.test(mimeType) || !mimeType.startsWith(kind))
    throw unsupported(`An attachment has no valid type: ${JSON.stringify(mimeType)?.slice(0, 100) ?? 'none'}.`);
  return { data, mimeType };
}

function readUri(uri: unknown) {
  return typeof uri === 'string' && uri.length <= 4096 ? { uri } : {};
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function unsupported(message: string): SluiceError {
  return new SluiceError('ACP_PROMPT_UNSUPPORTED', message);
}
