import { SluiceError } from '../../base/index.js';
import {
  createJsonStream,
  parse,
  parseAsync,
  type ParseOptions,
  type ParseResult,
  type StandardSchema,
} from '../index.js';
import { fromJsonSchema, isJsonObject, jsonEquals } from '../schema/index.js';
import { GrowingJson } from './growing-json.js';

/** A schema that the AI SDK accepts: a Standard Schema (zod, valibot, arktype, …), or the result of its `jsonSchema()`. */
export type SdkSchema = StandardSchema | { readonly jsonSchema: unknown };

/** Adapter options: the `parse` options that never add content to an answer. */
export type RepairOptions = Pick<ParseOptions, 'align' | 'ambiguous' | 'normalizers' | 'limits'>;

/**
 * Creates a function for `experimental_repairText` of `generateObject` and `streamObject`. It extracts the value,
 * repairs its syntax and returns it as JSON if the schema accepts it; otherwise null, so the SDK reports its own error.
 * A truncated value is never completed.
 *
 * @example
 * const { object } = await generateObject({ model, prompt, schema, experimental_repairText: repairText(schema) })
 */
export function repairText(
  schema?: SdkSchema,
  options: RepairOptions = {},
): (failure: { readonly text: string }) => Promise<string | null> {
  return async ({ text }) => {
    const validatingSchema = schema === undefined ? undefined : await toValidatingSchema(schema);
    return writeValue(await parseAsync(text, validatingSchema, options));
  };
}

/**
 * Creates a function for `experimental_repairToolCall` (`repairToolCall` from version 7). It repairs a call's
 * arguments, or returns null if the tool is unknown or the arguments contain no value that its schema accepts.
 *
 * @example
 * const { toolCalls } = await generateText({ model, prompt, tools, experimental_repairToolCall: repairToolCall(tools) })
 */
export function repairToolCall(
  tools: Readonly<Record<string, { readonly inputSchema?: unknown }>>,
  options: RepairOptions = {},
): <Call extends { readonly toolName: string; readonly input: string }>(failure: {
  readonly toolCall: Call;
}) => Promise<Call | null> {
  return async ({ toolCall }) => {
    const schema = Object.hasOwn(tools, toolCall.toolName) ? tools[toolCall.toolName]?.inputSchema : undefined;
    if (!isSdkSchema(schema)) return null;
    const input = writeValue(await parseAsync(toolCall.input, await toValidatingSchema(schema), options));
    return input === null ? null : { ...toolCall, input };
  };
}

/** The call parameters that the middleware reads: the requested format, and the tools. */
interface CallOptions {
  readonly responseFormat?: { readonly type: string; readonly schema?: unknown } | undefined;
  readonly tools?: readonly object[] | undefined;
}

/** A middleware for `wrapLanguageModel`, for any supported version of the SDK. */
export interface JsonMiddleware<Version extends string> {
  readonly specificationVersion: Version;
  wrapGenerate<Result extends { readonly content: readonly object[] }>(call: {
    readonly doGenerate: () => PromiseLike<Result>;
    readonly params: CallOptions;
  }): Promise<Result>;
  wrapStream<Result extends { readonly stream: ReadableStream<object> }>(call: {
    readonly doStream: () => PromiseLike<Result>;
    readonly params: CallOptions;
  }): Promise<Result>;
}

/**
 * Creates a middleware that turns a model's output into plain JSON, even while it streams: thinking, tags, fences and prose
 * are removed, syntax is repaired. It applies to calls that request JSON (`generateObject`, `streamObject`, `Output.object`) and
 * to the arguments of tool calls. Text without a value is passed through unchanged.
 * `version` is `'v3'` for version 6 of the SDK, `'v4'` for 7; version 5 ignores it.
 *
 * @example
 * const model = wrapLanguageModel({ model: provider('small-model'), middleware: jsonMiddleware() })
 * const { partialOutputStream } = streamText({ model, output: Output.object({ schema }), prompt })
 */
export function jsonMiddleware<Version extends string = 'v3'>(
  options: { readonly version?: Version } = {},
): JsonMiddleware<Version> {
  return {
    // The type parameter has the same default as the option.
    specificationVersion: options.version ?? ('v3' as Version),
    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      const repairCall = createCallRepair(params);
      const wantsJson = params.responseFormat?.type === 'json';
      const content = wantsJson ? repairTextParts(result.content, readFormat(params)) : result.content;
      return { ...result, content: content.map(repairCall) };
    },
    async wrapStream({ doStream, params }) {
      const result = await doStream();
      const repairCall = createCallRepair(params);
      const calls = new TransformStream<object, object>({
        transform: (part, controller) => controller.enqueue(repairCall(part)),
      });
      const stream = result.stream.pipeThrough(calls);
      const wantsJson = params.responseFormat?.type === 'json';
      return { ...result, stream: wantsJson ? stream.pipeThrough(createTextRepair(readFormat(params))) : stream };
    },
  };
}

/** Reads the schema of the requested format. */
function readFormat({ responseFormat }: CallOptions): StandardSchema | undefined {
  return interpret(responseFormat?.schema);
}

/** Interprets a JSON Schema; undefined if it is unsupported, because the SDK validates the value itself. */
function interpret(schema: unknown): StandardSchema | undefined {
  if (!isJsonObject(schema)) return undefined;
  try {
    return fromJsonSchema(schema, { trusted: false });
  } catch {
    return undefined;
  }
}

function isText(part: object): part is { readonly text: string } {
  return 'type' in part && part.type === 'text' && 'text' in part;
}

/** Replaces an answer's text parts with a single part that contains its value, if it has one. */
function repairTextParts(content: readonly object[], schema: StandardSchema | undefined): readonly object[] {
  const textParts = content.filter(isText);
  const value = writeValue(parse(textParts.map(({ text }) => text).join(''), schema));
  if (value === null) return content;
  const [first] = textParts;
  return content.flatMap((part) => (part === first ? [{ ...part, text: value }] : isText(part) ? [] : [part]));
}

/** Repairs tool call arguments that are not valid JSON, using the tool's schema. */
function createCallRepair({ tools = [] }: CallOptions): (part: object) => object {
  return (part) => {
    if (!('type' in part) || part.type !== 'tool-call' || !('input' in part) || typeof part.input !== 'string')
      return part;
    if (isJson(part.input)) return part;
    const name = 'toolName' in part ? part.toolName : undefined;
    const tool = tools.find((candidate) => 'name' in candidate && candidate.name === name);
    const schema = interpret(tool !== undefined && 'inputSchema' in tool ? tool.inputSchema : undefined);
    const input = schema === undefined ? null : writeValue(parse(part.input, schema));
    return input === null ? part : { ...part, input };
  };
}

/**
 * Replaces the text of a streamed answer with its value, chunk by chunk. A block's end is sent at the end of the
 * answer, when the rest of the value is known.
 */
function createTextRepair(schema: StandardSchema | undefined): TransformStream<object, object> {
  const reader = createJsonStream(schema);
  const json = new GrowingJson();
  let raw = '';
  let snapshot: unknown;
  let lastDelta: object | undefined;
  let heldEnd: object | undefined;
  let isFinished = false;

  const emit = (controller: TransformStreamDefaultController<object>, delta: string): void => {
    if (delta !== '') controller.enqueue({ ...lastDelta, delta });
  };
  const finish = (controller: TransformStreamDefaultController<object>): void => {
    if (isFinished) return;
    isFinished = true;
    if (lastDelta !== undefined) {
      emit(controller, json.growOpenString(snapshot));
      const result = reader.end();
      if (result.ok && !json.diverged && !json.isEmpty && isComplete(json, result.value)) {
        emit(controller, json.closing);
      } else if (json.isEmpty) {
        // Nothing was written yet: send the complete value, or the original text.
        emit(controller, writeValue(result) ?? raw);
      } else if (result.ok || json.diverged) {
        controller.enqueue({ type: 'error', error: new SluiceError('ANSWER_REPLACED', REPLACED_MESSAGE) });
      }
      // Otherwise the answer is truncated or invalid, and the written JSON stays incomplete.
    }
    if (heldEnd !== undefined) controller.enqueue(heldEnd);
  };
  return new TransformStream({
    transform(part, controller) {
      const type = 'type' in part ? part.type : undefined;
      if (type === 'text-delta' && 'delta' in part && typeof part.delta === 'string') {
        lastDelta = part;
        raw += part.delta;
        const { value, changed } = reader.push(part.delta);
        snapshot = value;
        emit(controller, json.grow(value, changed));
      } else if (type === 'text-end' && !isFinished) {
        heldEnd = part;
      } else {
        if (type === 'text-start' && heldEnd !== undefined) {
          controller.enqueue(heldEnd);
          heldEnd = undefined;
          // The rest of the value belongs to the open block.
          if (lastDelta !== undefined && 'id' in part) lastDelta = { ...lastDelta, id: part.id };
        }
        if (type === 'finish') finish(controller);
        controller.enqueue(part);
      }
    },
    flush: finish,
  });
}

const REPLACED_MESSAGE =
  'The model replaced its answer after part of it had been streamed. Ask for only one answer, or use generateObject, which waits for the complete answer.';

/** Whether the written JSON, once closed, equals the value of the complete answer. */
function isComplete(json: GrowingJson, value: unknown): boolean {
  return jsonEquals(JSON.parse(`${json.text}${json.closing}`), value);
}

/** Serializes the value as JSON for the SDK; null if there is no value. */
function writeValue(result: ParseResult<unknown>): string | null {
  return result.ok ? JSON.stringify(result.value) : null;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isSdkSchema(schema: unknown): schema is SdkSchema {
  // An arktype schema is a function.
  const hasMembers = (typeof schema === 'object' && schema !== null) || typeof schema === 'function';
  return hasMembers && ('~standard' in schema || 'jsonSchema' in schema);
}

/** Wraps a schema to validate without transforming, because the SDK transforms the value itself. */
async function toValidatingSchema(schema: SdkSchema): Promise<StandardSchema> {
  if (!('~standard' in schema)) return fromJsonSchema((await schema.jsonSchema) as object, { trusted: false });
  const standard = schema['~standard'];
  const keepValue = (value: unknown, result: Awaited<ReturnType<typeof standard.validate>>) =>
    result.issues === undefined ? { value } : result;
  return {
    ...('~sluice' in schema && { '~sluice': schema['~sluice'] }),
    '~standard': {
      ...standard,
      validate(value) {
        const result = standard.validate(value);
        return result instanceof Promise
          ? result.then((resolved) => keepValue(value, resolved))
          : keepValue(value, result);
      },
    },
  };
}
