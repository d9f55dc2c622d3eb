/** The AG-UI 1.0 events that Sluice emits. The tests validate them with the schemas of the published package. */
export type AgUiEvent = {
  /** Milliseconds since 1970. */
  readonly timestamp: number;
} & (RunEvent | SubagentEvent | (PartEvent & { readonly subagentRunId?: string }));

/** Tokens in AG-UI's accounting: the cached and reasoning counts are parts of the two totals. */
export interface AgUiUsage {
  readonly model?: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly reasoningTokens?: number;
  readonly cachedInputTokens?: number;
  readonly cacheWriteInputTokens?: number;
}

interface AgUiInterrupt {
  readonly id: string;
  readonly reason: string;
  readonly message?: string;
  readonly responseSchema: Readonly<Record<string, unknown>>;
}

export type AgUiOutcome =
  | { readonly type: 'success' }
  | { readonly type: 'cancelled' }
  | { readonly type: 'interrupt'; readonly interrupts: readonly AgUiInterrupt[] };

type RunEvent =
  | { readonly type: 'RUN_STARTED'; readonly threadId: string; readonly runId: string; readonly protocolVersion: '1.0' }
  | {
      readonly type: 'RUN_FINISHED';
      readonly threadId: string;
      readonly runId: string;
      readonly outcome: AgUiOutcome;
      readonly usage?: readonly AgUiUsage[];
    }
  | {
      readonly type: 'RUN_ERROR';
      readonly message: string;
      readonly code: string;
      readonly usage?: readonly AgUiUsage[];
    };

type SubagentEvent =
  | {
      readonly type: 'SUBAGENT_STARTED';
      readonly subagentRunId: string;
      readonly name: string;
      readonly parentToolCallId: string;
      readonly parentSubagentRunId?: string;
    }
  | { readonly type: 'SUBAGENT_FINISHED'; readonly subagentRunId: string }
  | { readonly type: 'SUBAGENT_ERROR'; readonly subagentRunId: string; readonly message: string };

/** An event of the agent, or of a sub-agent if it has its id. */
type PartEvent =
  | { readonly type: 'TEXT_MESSAGE_START'; readonly messageId: string; readonly role: 'assistant' | 'user' }
  | { readonly type: 'REASONING_MESSAGE_START'; readonly messageId: string; readonly role: 'reasoning' }
  | { readonly type: 'REASONING_START' | 'REASONING_END'; readonly messageId: string }
  | { readonly type: 'TEXT_MESSAGE_END' | 'REASONING_MESSAGE_END'; readonly messageId: string }
  | {
      readonly type: 'TEXT_MESSAGE_CONTENT' | 'REASONING_MESSAGE_CONTENT';
      readonly messageId: string;
      readonly delta: string;
    }
  | { readonly type: 'TOOL_CALL_START'; readonly toolCallId: string; readonly toolCallName: string }
  | { readonly type: 'TOOL_CALL_ARGS'; readonly toolCallId: string; readonly delta: string }
  | { readonly type: 'TOOL_CALL_END'; readonly toolCallId: string }
  | {
      readonly type: 'TOOL_CALL_RESULT';
      readonly messageId: string;
      readonly toolCallId: string;
      readonly content: string;
      readonly role: 'tool';
      readonly metadata?: Readonly<Record<string, unknown>>;
    }
  /** An event that AG-UI does not define: an FCMP event under its name, or raw bytes as text. */
  | { readonly type: 'CUSTOM'; readonly name: string; readonly value: unknown }
  | { readonly type: 'RAW'; readonly event: unknown; readonly source: string };
