export type ToolKind = 'read' | 'edit' | 'delete' | 'move' | 'search' | 'execute' | 'think' | 'fetch' | 'other';

/** The parameters of a `session/update` notification in ACP version 1; the tests validate them with its schemas. */
export interface AcpSessionNotification {
  readonly sessionId: string;
  readonly update: AcpUpdate;
}

interface AcpText {
  readonly type: 'text';
  readonly text: string;
}

interface AcpChunk {
  readonly content: AcpText;
  readonly messageId: string;
  readonly _meta?: AcpMeta;
}

/** ACP reserves `_meta` for extension data; Sluice uses the key `sluice`. */
export interface AcpMeta {
  readonly sluice: Readonly<Record<string, unknown>>;
}

/** The content of a tool call: text, or a file change. */
export type AcpToolContent =
  | { readonly type: 'content'; readonly content: AcpText }
  | { readonly type: 'diff'; readonly path: string; readonly oldText: string | null; readonly newText: string };

interface AcpLocation {
  readonly path: string;
  readonly line?: number;
}

/** The updates Sluice produces. */
export type AcpUpdate =
  | ({ readonly sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk' | 'user_message_chunk' } & AcpChunk)
  | {
      readonly sessionUpdate: 'tool_call';
      readonly toolCallId: string;
      readonly title: string;
      readonly name: string;
      readonly kind: ToolKind;
      readonly status: 'in_progress';
      readonly rawInput?: unknown;
      readonly locations?: readonly AcpLocation[];
      readonly _meta?: AcpMeta;
    }
  | {
      readonly sessionUpdate: 'tool_call_update';
      readonly toolCallId: string;
      readonly status: 'completed' | 'failed';
      readonly content?: readonly AcpToolContent[];
      readonly rawOutput?: unknown;
      readonly locations?: readonly AcpLocation[];
      readonly _meta?: AcpMeta;
    }
  | {
      readonly sessionUpdate: 'plan';
      readonly entries: readonly {
        readonly content: string;
        readonly priority: 'high' | 'medium' | 'low';
        readonly status: 'pending' | 'in_progress' | 'completed';
      }[];
    }
  | { readonly sessionUpdate: 'session_info_update'; readonly updatedAt: string; readonly _meta: AcpMeta };
