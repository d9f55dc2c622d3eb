import { SluiceError } from '../../base/index.js';
import {
  createJsonStream,
  readChunk,
  type JsonSnapshot,
  type JsonStream,
  type JsonStreamOptions,
  type ModelChunk,
  type StandardSchema,
} from '../index.js';

/** Maximum number of tool calls in one answer. */
const MAX_CALLS = 256;

/** The state of one tool call while a model writes its arguments. */
export interface ToolCallSnapshot extends JsonSnapshot<unknown> {
  readonly id: string;
  readonly name: string;
}

/** Options for {@link streamToolCalls}, including the options for argument streams. */
export interface ToolCallOptions extends JsonStreamOptions {
  /** Argument schemas by tool name. Arguments of other tools are parsed without a schema. */
  readonly schemas?: Readonly<Record<string, StandardSchema>>;
}

/**
 * Yields the tool calls in a streamed answer, each with its arguments as a growing value. Accepts streams from OpenAI's
 * client (chat completions and responses), Anthropic's client, and the AI SDK's `fullStream`. A call's last snapshot
 * has `result`.
 *
 * @example
 * for await (const { name, value, result } of streamToolCalls(stream, { schemas: { search: Query } })) {
 *   if (result?.ok) await execute(name, result.value)
 * }
 */
export async function* streamToolCalls(
  source: AsyncIterable<ModelChunk>,
  options: ToolCallOptions = {},
): AsyncGenerator<ToolCallSnapshot, void, undefined> {
  const { schemas = {}, ...streaming } = options;
  const calls = new Map<string | number, OpenCall>();
  let count = 0;
  for await (const chunk of source) {
    for (const part of readCallParts(chunk)) {
      let call = calls.get(part.key);
      // Some servers, such as Gemini's, send all calls with the same index: a new id with a name starts the next call.
      if (call !== undefined && part.name !== undefined && (part.id ?? call.id) !== call.id) {
        yield* endCall(call);
        call = undefined;
      }
      if (call === undefined) {
        if (part.name === undefined) continue;
        count += 1;
        if (count > MAX_CALLS)
          throw new SluiceError(
            'LIMIT_EXCEEDED',
            `The answer has more than ${MAX_CALLS} tool calls, the limit. Ask for fewer calls per answer.`,
          );
        const schema = Object.hasOwn(schemas, part.name) ? schemas[part.name] : undefined;
        const stream = createJsonStream<unknown, unknown>(schema, streaming);
        call = { id: part.id ?? String(part.key), name: part.name, stream, hasEnded: false };
        calls.set(part.key, call);
      }
      if (!call.hasEnded && part.text !== '') yield createSnapshot(call, call.stream.push(part.text));
      if (part.isLast === true) yield* endCall(call);
    }
  }
  for (const call of calls.values()) yield* endCall(call);
}

interface OpenCall {
  readonly id: string;
  readonly name: string;
  readonly stream: JsonStream<unknown>;
  hasEnded: boolean;
}

function createSnapshot(
  { id, name }: OpenCall,
  { value, changed, complete, result }: JsonSnapshot<unknown>,
): ToolCallSnapshot {
  return { id, name, value, changed, complete, ...(result !== undefined && { result }) };
}

function* endCall(call: OpenCall): Generator<ToolCallSnapshot> {
  if (call.hasEnded) return;
  call.hasEnded = true;
  const { value } = call.stream.push('');
  const result = call.stream.end();
  yield createSnapshot(call, { value, changed: [], complete: result.ok, result });
}

/** The part of a tool call within one chunk; the first part has a name. */
interface CallPart {
  readonly key: string | number;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly text: string;
  readonly isLast?: boolean;
}

/** The fields that the events of all four streams use. */
interface CallEvent {
  readonly type?: string;
  readonly id?: string;
  readonly index?: number;
  readonly toolName?: string;
  readonly item_id?: string;
  readonly delta?: string | { readonly type?: string; readonly partial_json?: string };
  readonly content_block?: { readonly type?: string; readonly id?: string; readonly name?: string };
  readonly item?: { readonly type?: string; readonly id?: string; readonly call_id?: string; readonly name?: string };
  readonly choices?: readonly {
    readonly index?: number;
    readonly delta?: {
      readonly tool_calls?: readonly {
        readonly index?: number;
        readonly id?: string;
        readonly function?: { readonly name?: string; readonly arguments?: string };
      }[];
    };
  }[];
}

function readCallParts(chunk: ModelChunk): readonly CallPart[] {
  // Throws if the stream reports a failure. Text is not needed; a chat completions chunk can have both text and calls.
  readChunk(chunk);
  if (typeof chunk !== 'object') return [];
  const event = chunk as CallEvent;
  if (event.choices !== undefined) {
    const calls = event.choices.find(({ index = 0 }) => index === 0)?.delta?.tool_calls ?? [];
    return calls.map(({ index = 0, id, function: fn }) => ({
      key: index,
      // Only the first part has an id and a name; some servers send empty strings with the others.
      id: id === '' ? undefined : id,
      name: fn?.name === '' ? undefined : fn?.name,
      text: fn?.arguments ?? '',
    }));
  }
  const { delta, index = 0, id = '', item_id = '' } = event;
  switch (event.type ?? '') {
    case 'content_block_start': {
      const { type, id: callId, name } = event.content_block ?? {};
      return type === 'tool_use' ? [{ key: index, id: callId, name, text: '' }] : [];
    }
    case 'content_block_delta':
      return typeof delta === 'object' && delta.type === 'input_json_delta'
        ? [{ key: index, text: delta.partial_json ?? '' }]
        : [];
    case 'content_block_stop':
      return [{ key: index, text: '', isLast: true }];
    case 'response.output_item.added': {
      const { type, id: itemId = '', call_id: callId, name } = event.item ?? {};
      return type === 'function_call' ? [{ key: itemId, id: callId, name, text: '' }] : [];
    }
    case 'response.function_call_arguments.delta':
      return [{ key: item_id, text: typeof delta === 'string' ? delta : '' }];
    case 'response.function_call_arguments.done':
      return [{ key: item_id, text: '', isLast: true }];
    case 'tool-input-start':
      return [{ key: id, id, name: event.toolName, text: '' }];
    case 'tool-input-delta':
      return [{ key: id, text: typeof delta === 'string' ? delta : '' }];
    case 'tool-input-end':
      return [{ key: id, text: '', isLast: true }];
    default:
      return [];
  }
}
