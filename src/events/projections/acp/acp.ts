import type { PlanEntry } from '../../protocol/event-parts.js';
import type { FcmpData, FcmpEvent } from '../../protocol/fcmp-event.js';
import {
  toReasoningId,
  toToolCallId,
  projectAll,
  TextTracker,
  formatToolResult,
  type Projection,
} from '../projection.js';
import { omitMissing } from '../../reading/record-fields.js';
import { omitUndefined } from '../../../base/index.js';

/**
 * Converts FCMP events to session updates of the Agent Client Protocol, version 1. A Sluice run is a session. Events
 * that ACP does not define (warnings, artifacts, the end of the conversation, raw output) become a `session_info_update`
 * with the FCMP event under `_meta.sluice`, which clients can ignore.
 *
 * @example
 * toAcp(fcmpEvents)[0]
 * // { sessionId: '01J…', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Hello' }, … } }
 */
export function toAcp(events: Iterable<FcmpEvent>): AcpSessionNotification[] {
  return projectAll(createAcpProjection(), events);
}

/**
 * Like {@link toAcp}, one event at a time. It stores only the open items of the current attempt.
 *
 * @example
 * const projection = createAcpProjection()
 * for await (const event of fcmpEvents) send(projection.push(event))
 */
export function createAcpProjection(): Projection<AcpSessionNotification> {
  const textTracker = new TextTracker();
  const openCalls = new Set<string>();
  let sessionId = '';
  let attempt = 0;

  /** Ends open calls as failed: a call whose end was never printed cannot have succeeded. */
  function closeAttempt(): AcpUpdate[] {
    textTracker.clear();
    const closingUpdates = [...openCalls].map((toolCallId): AcpUpdate => ({
      sessionUpdate: 'tool_call_update',
      toolCallId,
      status: 'failed',
    }));
    openCalls.clear();
    return closingUpdates;
  }

  function projectMessage(data: FcmpData<'assistant.message.final'>, event: FcmpEvent): AcpUpdate[] {
    const { rest, diverged } = textTracker.finish(data.message_id, data.text);
    const updates: AcpUpdate[] = [];
    if (rest !== '') updates.push(createChunk('agent_message_chunk', data.message_id, rest, data.parent_tool_call_id));
    if (diverged || data.structured_payload !== undefined) updates.push(toInfoUpdate(event));
    return updates;
  }

  function projectThought(data: FcmpData<'assistant.reasoning'>, event: FcmpEvent): AcpUpdate[] {
    const messageId = toReasoningId(data, { attempt, seq: event.seq });
    if (data.partial === true) textTracker.append(messageId, data.text);
    const text = data.partial === true ? data.text : textTracker.finish(messageId, data.text).rest;
    return text === '' ? [] : [createChunk('agent_thought_chunk', messageId, text, data.parent_tool_call_id)];
  }

  function projectToolCall(data: FcmpData<'assistant.tool_call'>): AcpUpdate[] {
    const toolCallId = toToolCallId(data.tool_call_id, attempt);
    const updates: AcpUpdate[] = [];
    if (!openCalls.has(toolCallId)) {
      openCalls.add(toolCallId);
      updates.push({
        sessionUpdate: 'tool_call',
        toolCallId,
        title: formatTitle(data),
        name: data.name,
        kind: chooseToolKind(data.name),
        status: 'in_progress',
        ...omitUndefined({ rawInput: data.input, locations: data.locations }),
        ...createSubagentMeta(data.parent_tool_call_id),
      });
    }
    if (data.status === 'started') return updates;
    openCalls.delete(toolCallId);
    const text = formatToolResult(data);
    const content = toDiffContent(data.diff);
    if (text !== '') content.unshift({ type: 'content', content: { type: 'text', text } });
    updates.push({
      sessionUpdate: 'tool_call_update',
      toolCallId,
      status: data.status,
      ...(content.length === 0 ? {} : { content }),
      ...omitUndefined({ locations: data.locations, rawOutput: data.output }),
      ...createTimesMeta(data),
    });
    return updates;
  }

  function project(event: FcmpEvent): AcpUpdate[] {
    switch (event.type) {
      case 'assistant.message.delta': {
        const { message_id, text, parent_tool_call_id } = event.data;
        if (text === '') return [];
        textTracker.append(message_id, text);
        return [createChunk('agent_message_chunk', message_id, text, parent_tool_call_id)];
      }
      case 'assistant.message.final':
        return projectMessage(event.data, event);
      case 'assistant.reasoning':
        return projectThought(event.data, event);
      case 'assistant.tool_call':
        return projectToolCall(event.data);
      case 'user.input.replied': {
        const { interaction_id, text } = event.data;
        return text === '' ? [] : [createChunk('user_message_chunk', `${interaction_id}_reply`, text, undefined)];
      }
      case 'user.message': {
        const { text, parent_tool_call_id } = event.data;
        return text === '' ? [] : [createChunk('user_message_chunk', `user_${event.seq}`, text, parent_tool_call_id)];
      }
      case 'user.input.required':
        return [...(event.data.answerable === false ? [] : closeAttempt()), toInfoUpdate(event)];
      case 'conversation.completed':
      case 'conversation.failed':
        return [...closeAttempt(), toInfoUpdate(event)];
      case 'assistant.plan':
        return [{ sessionUpdate: 'plan', entries: event.data.entries.map(toPlanEntry) }];
      case 'conversation.started':
      case 'conversation.status':
      case 'permission.required':
      case 'permission.replied':
      case 'artifact.created':
      case 'artifact.modified':
      case 'artifact.deleted':
      case 'diagnostic.warning':
      case 'raw.stdout':
      case 'raw.stderr':
        return [toInfoUpdate(event)];
    }
  }

  return {
    push(event) {
      const closingUpdates = event.meta.attempt === attempt ? [] : closeAttempt();
      sessionId = event.run_id;
      attempt = event.meta.attempt;
      return [...closingUpdates, ...project(event)].map((update) => ({ sessionId, update }));
    },
    end() {
      return closeAttempt().map((update) => ({ sessionId, update }));
    },
  };
}

function createChunk(
  sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk' | 'user_message_chunk',
  messageId: string,
  text: string,
  parentCall: string | undefined,
): AcpUpdate {
  return { sessionUpdate, content: { type: 'text', text }, messageId, ...createSubagentMeta(parentCall) };
}

/** Returns how long a call took by the engine's own clock, which ACP does not define. */
function createTimesMeta({ started_at, ended_at, duration_ms }: FcmpData<'assistant.tool_call'>) {
  const times = omitMissing({ started_at, ended_at, duration_ms });
  return Object.keys(times).length === 0 ? {} : { _meta: { sluice: times } };
}

function createSubagentMeta(parentCall: string | undefined): { readonly _meta?: AcpMeta } {
  return parentCall === undefined ? {} : { _meta: { sluice: { parent_tool_call_id: parentCall } } };
}

/** Converts diffs to content. ACP needs the old and the new text, so patches are omitted. */
function toDiffContent(diff: FcmpData<'assistant.tool_call'>['diff']): AcpToolContent[] {
  return (diff ?? []).flatMap(({ path, old_text: oldText = null, new_text: newText }) =>
    newText === undefined ? [] : [{ type: 'diff' as const, path, oldText, newText }],
  );
}

function toPlanEntry({ content, status, priority = 'medium' }: PlanEntry) {
  return { content, status, priority };
}

function toInfoUpdate(event: FcmpEvent): AcpUpdate {
  const { type, data, seq } = event;
  return { sessionUpdate: 'session_info_update', updatedAt: event.ts, _meta: { sluice: { type, data, seq } } };
}

/** Returns a call's title: its command, truncated because some commands are whole scripts, the engine's title, or the tool name. */
function formatTitle(data: Pick<FcmpData<'assistant.tool_call'>, 'name' | 'input' | 'title'>): string {
  const input = data.input;
  const title = data.title ?? data.name;
  if (typeof input !== 'object' || input === null || !('command' in input)) return title;
  return typeof input.command === 'string' && input.command !== '' ? input.command.slice(0, TITLE_LENGTH) : title;
}

const TITLE_LENGTH = 200;

const KIND_BY_NAME: ReadonlyMap<string, ToolKind> = new Map(
  Object.entries({
    execute: ['bash', 'shell', 'command_execution', 'run_shell_command', 'exec', 'execute'],
    read: ['read', 'read_file', 'read_many_files', 'notebookread'],
    edit: [
      'write',
      'write_file',
      'edit',
      'multiedit',
      'replace',
      'file_change',
      'patch',
      'apply_patch',
      'notebookedit',
    ],
    search: ['grep', 'glob', 'ls', 'list', 'list_directory', 'search_file_content', 'grep_search', 'codesearch'],
    fetch: ['web_search', 'websearch', 'web_fetch', 'webfetch', 'google_web_search', 'fetch'],
    think: ['think', 'todo_list', 'todowrite', 'todo_write', 'write_todos', 'task', 'agent', 'collab_tool_call'],
    delete: ['delete', 'delete_file'],
    move: ['move', 'move_file'],
  } satisfies Partial<Record<ToolKind, readonly string[]>>).flatMap(([kind, names]) =>
    names.map((name) => [name, kind as ToolKind] as const),
  ),
);

export function chooseToolKind(name: string): ToolKind {
  return KIND_BY_NAME.get(name.toLowerCase()) ?? 'other';
}

/** The parameters of `session/request_permission`, without the session. */
export type AcpPermission = ReturnType<typeof toAcpPermission>;

/** Converts a permission request to an Agent Client Protocol request. Its tool call has the same id as in updates. */
export function toAcpPermission({ data, meta }: FcmpEvent<'permission.required'>) {
  const { tool, input, diff, locations } = data;
  const content = toDiffContent(diff);
  return {
    toolCall: {
      toolCallId: toToolCallId(data.tool_call_id, meta.attempt),
      title: formatTitle({ name: tool, input }),
      name: tool,
      kind: chooseToolKind(tool),
      status: 'pending' as const,
      rawInput: input,
      ...(content.length === 0 ? {} : { content }),
      ...(locations === undefined ? {} : { locations }),
    },
    options: data.options.map(({ id, label, kind }) => ({ optionId: id, name: label, kind })),
  };
}

type ToolKind = 'read' | 'edit' | 'delete' | 'move' | 'search' | 'execute' | 'think' | 'fetch' | 'other';

/** The parameters of a `session/update` notification in ACP version 1; the tests validate them with its schemas. */
export interface AcpSessionNotification {
  readonly sessionId: string;
  readonly update: AcpUpdate;
}

interface AcpText {
  readonly type: 'text';
  readonly text: string;
}

/** ACP reserves `_meta` for extension data; Sluice uses the key `sluice`. */
interface AcpMeta {
  readonly sluice: Readonly<Record<string, unknown>>;
}

/** The content of a tool call: text, or a file change. */
type AcpToolContent =
  | { readonly type: 'content'; readonly content: AcpText }
  | { readonly type: 'diff'; readonly path: string; readonly oldText: string | null; readonly newText: string };

type AcpLocation = NonNullable<FcmpData<'assistant.tool_call'>['locations']>[number];

/** The updates Sluice produces. */
export type AcpUpdate =
  | {
      readonly sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk' | 'user_message_chunk';
      readonly content: AcpText;
      readonly messageId: string;
      readonly _meta?: AcpMeta;
    }
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
      readonly entries: readonly Required<PlanEntry>[];
    }
  | { readonly sessionUpdate: 'session_info_update'; readonly updatedAt: string; readonly _meta: AcpMeta };
