import { SluiceError } from '../base/index.js';

/** A block of a prompt, as far as it is read here. */
export interface PromptBlock {
  readonly type: string;
  readonly text?: unknown;
  readonly uri?: unknown;
  readonly name?: unknown;
  readonly resource?: unknown;
}

/**
 * The prompt of a client as one text: what the person wrote, names of the files it points to, and the files it brings.
 * Throws `ACP_PROMPT_UNSUPPORTED` for what no engine takes as text.
 *
 * @example
 * readPrompt([{ type: 'text', text: 'Explain ' }, { type: 'resource_link', name: 'a.ts', uri: 'file:///w/a.ts' }])
 * // 'Explain [a.ts](file:///w/a.ts)'
 */
export function readPrompt(blocks: readonly PromptBlock[]): string {
  const text = blocks.map(readBlock).join('');
  if (text.trim() === '') throw unsupported('The prompt is empty. Send a text.');
  return text;
}

function readBlock(block: PromptBlock): string {
  switch (block.type) {
    case 'text':
      return typeof block.text === 'string' ? block.text : '';
    case 'resource_link':
      return `[${asText(block.name)}](${asText(block.uri)})`;
    case 'resource': {
      const { resource } = block;
      const text = typeof resource === 'object' && resource !== null && 'text' in resource ? resource.text : undefined;
      if (typeof text !== 'string')
        throw unsupported('The prompt brings a binary file. Put it into the working folder and name it instead.');
      const uri = typeof resource === 'object' && resource !== null && 'uri' in resource ? resource.uri : '';
      return `\n\n<file uri=${JSON.stringify(asText(uri))}>\n${text}\n</file>\n\n`;
    }
    default:
      throw unsupported(`The prompt has a block of type "${block.type}". Send texts, links and text files only.`);
  }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function unsupported(message: string): SluiceError {
  return new SluiceError('ACP_PROMPT_UNSUPPORTED', message);
}
