/** A non-text input in the first prompt. */
export interface Attachment {
  /** `file` is any other file, such as a PDF. */
  readonly kind: 'image' | 'audio' | 'file';
  readonly mimeType: string;
  /** The bytes in base64. */
  readonly data: string;
  /** Its source. */
  readonly uri?: string;
}

/** A Model Context Protocol server whose tools the agent may use. */
export type McpServer =
  | {
      readonly type: 'stdio';
      readonly name: string;
      readonly command: string;
      readonly args: readonly string[];
      readonly env: readonly NamedValue[];
    }
  | {
      readonly type: 'http' | 'sse';
      readonly name: string;
      readonly url: string;
      readonly headers: readonly NamedValue[];
    };

/** An environment variable or an HTTP header. */
export interface NamedValue {
  readonly name: string;
  readonly value: string;
}

/**
 * Inputs that a caller in the same process adds to a run. They are not part of the spec, so they are not stored in a
 * queue or a list: attachments are large, and servers are commands with secrets. A run resumed by another process
 * continues without them.
 */
export interface RunInputs {
  readonly attachments: readonly Attachment[];
  readonly mcpServers: readonly McpServer[];
}

/** Inputs that an engine accepts besides text. */
export interface AcceptedInputs {
  readonly attachments: readonly Attachment['kind'][];
  readonly mcpServers: readonly McpServer['type'][];
}

export const ACCEPTS_TEXT_ONLY: AcceptedInputs = { attachments: [], mcpServers: [] };

/**
 * Describes the first input that an engine does not accept; undefined if it accepts them all.
 *
 * @example
 * findUnsupported({ attachments: [image], mcpServers: [] }, ACCEPTS_TEXT_ONLY) // 'images'
 */
export function findUnsupported(inputs: RunInputs, accepts: AcceptedInputs): string | undefined {
  const attachment = inputs.attachments.find(({ kind }) => !accepts.attachments.includes(kind));
  if (attachment !== undefined) return { image: 'images', audio: 'audio', file: 'binary files' }[attachment.kind];
  const server = inputs.mcpServers.find(({ type }) => !accepts.mcpServers.includes(type));
  if (server === undefined) return undefined;
  return accepts.mcpServers.length === 0 ? 'MCP servers' : `MCP servers over ${server.type}`;
}
