import { SluiceError } from '../base/index.js';
import {
  createJsonStream,
  parse,
  parseAsync,
  type ParseOptions,
  type ParseResult,
  type StandardSchema,
} from '../json/index.js';
import { interpretJsonSchema, isJsonObject, jsonEquals } from '../json-schema/index.js';
import { GrowingJson } from './growing-json.js';

/** A schema as the AI SDK takes it: a Standard Schema (zod, valibot, arktype, …), or what its `jsonSchema()` returns. */
export type SdkSchema = StandardSchema | { readonly jsonSchema: unknown };

/** Options of the adapters: those of `parse` that never add anything to an answer. */
export type RepairOptions = Pick<ParseOptions, 'align' | 'prefer' | 'ambiguous' | 'normalizers' | 'limits'>;

/**
 * A function for `experimental_repairText` of `generateObject` and `streamObject`: finds the value in the text, repairs its
 * syntax and returns it as JSON if the schema accepts it; otherwise null, so that the SDK reports its own error. A truncated
 * value is never completed.
 *
 * @example
 * const { object } = await generateObject({ model, prompt, schema, experimental_repairText: repairText(schema) })
 */
export function repairText(
  schema?: SdkSchema,
  options: RepairOptions = {},
): (failure: { readonly text: string }) => Promise<string | null> {
  return async ({ text }) => {
    const check = schema === undefined ? undefined : await toCheck(schema);
    return writeValue(await parseAsync(text, check, options));
  };
}

/**
 * A function for `experimental_repairToolCall` (`repairToolCall` from version 7): repairs the arguments of a call whose tool
 * exists; null for a call of an unknown tool and where nothing passes the tool's schema.
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
    const input = writeValue(await parseAsync(toolCall.input, await toCheck(schema), options));
    return input === null ? null : { ...toolCall, input };
  };
}

/** The part of a call that the middleware reads: the requested format, and the tools. */
interface CallOptions {
  readonly responseFormat?: { readonly type: string; readonly schema?: unknown } | undefined;
  readonly tools?: readonly object[] | undefined;
}

/** A middleware for `wrapLanguageModel`, of whichever version of the SDK is installed. */
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
 * A middleware that turns what a model writes around and inside its JSON into plain JSON, while it streams: thinking, tags,
 * fences and prose are left out, syntax is repaired. It works where the call asks for JSON (`generateObject`,
 * `streamObject`, `Output.object`) and on the arguments of tool calls. A text without such a value passes unchanged.
 * `version` is `'v3'` for version 6 of the SDK, `'v4'` for 7; version 5 ignores it.
 *
 * @example
 * const model = wrapLanguageModel({ model: provider('small-model'), middleware: jsonMiddleware() })
 * const { partialObjectStream } = streamObject({ model, schema, prompt })
 */
export function jsonMiddleware<Version extends string = 'v3'>(
  options: { readonly version?: Version } = {},
): JsonMiddleware<Version> {
  return {
    // The default of the type parameter is the default of the option.
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

/** The schema of the format that was asked for. */
function readFormat({ responseFormat }: CallOptions): StandardSchema | undefined {
  return interpret(responseFormat?.schema);
}

/** A JSON Schema that cannot be read is no reason to fail the call: the SDK validates the value itself. */
function interpret(schema: unknown): StandardSchema | undefined {
  if (!isJsonObject(schema)) return undefined;
  try {
    return interpretJsonSchema(schema);
  } catch {
    return undefined;
  }
}

function isText(part: object): part is { readonly text: string } {
  return 'type' in part && part.type === 'text' && 'text' in part;
}

/** The text parts of an answer as one part with its value; unchanged if there is none. */
function repairTextParts(content: readonly object[], schema: StandardSchema | undefined): readonly object[] {
  const texts = content.filter(isText);
  const value = writeValue(parse(texts.map(({ text }) => text).join(''), schema));
  if (value === null) return content;
  const [first] = texts;
  return content.flatMap((part) => (part === first ? [{ ...part, text: value }] : isText(part) ? [] : [part]));
}

/** Repairs the arguments of tool calls that are not valid JSON, by the schema of their tool. */
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
 * Replaces the text of a streamed answer by its value, piece by piece. The end of a block waits for the end of the answer,
 * which is when the rest of the value is known.
 */
function createTextRepair(schema: StandardSchema | undefined): TransformStream<object, object> {
  const reader = createJsonStream(schema);
  const json = new GrowingJson();
  let raw = '';
  let lastDelta: object | undefined;
  let heldEnd: object | undefined;
  let finished = false;

  const emit = (controller: TransformStreamDefaultController<object>, delta: string): void => {
    if (delta !== '') controller.enqueue({ ...lastDelta, delta });
  };
  const finish = (controller: TransformStreamDefaultController<object>): void => {
    if (finished) return;
    finished = true;
    if (lastDelta !== undefined) {
      const result = reader.end();
      if (result.ok && !json.diverged && json.text !== '' && isWhole(json, result.value)) {
        emit(controller, json.closing);
      } else if (json.text === '') {
        // Nothing was written yet: the value as a whole, or the text as the model wrote it.
        emit(controller, writeValue(result) ?? raw);
      } else if (result.ok || json.diverged) {
        controller.enqueue({ type: 'error', error: new SluiceError('ANSWER_REPLACED', REPLACED) });
      }
      // Otherwise the text was cut or is not valid: what was written stays open, as the model left it.
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
        emit(controller, json.grow(value, changed));
      } else if (type === 'text-end' && !finished) {
        heldEnd = part;
      } else {
        if (type === 'text-start' && heldEnd !== undefined) {
          controller.enqueue(heldEnd);
          heldEnd = undefined;
        }
        if (type === 'finish') finish(controller);
        controller.enqueue(part);
      }
    },
    flush: finish,
  });
}

const REPLACED =
  'The model replaced its answer after a part of it had been streamed. Ask for one answer, or use generateObject, which reads the whole text.';

/** Whether the text that was written, once it is closed, is the value that the whole answer has. */
function isWhole(json: GrowingJson, value: unknown): boolean {
  return jsonEquals(JSON.parse(`${json.text}${json.closing}`), value);
}

/** The value as the SDK reads it; null if there is none. */
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

/**
 * The schema as a check that keeps the value: the SDK validates what it is given and would transform it a second time.
 */
async function toCheck(schema: SdkSchema): Promise<StandardSchema> {
  if (!('~standard' in schema)) return interpretJsonSchema((await schema.jsonSchema) as object);
  const standard = schema['~standard'];
  const keep = (value: unknown, result: Awaited<ReturnType<typeof standard.validate>>) =>
    result.issues === undefined ? { value } : result;
  return {
    ...('~sluice' in schema && { '~sluice': schema['~sluice'] }),
    '~standard': {
      ...standard,
      validate(value) {
        const result = standard.validate(value);
        return result instanceof Promise ? result.then((answer) => keep(value, answer)) : keep(value, result);
      },
    },
  };
}
