import { isJsonObject, setOwnValue } from '../json-schema.js';
import { readNotation } from './notation-reader.js';

/** A tool call. */
export interface ToolCall {
  readonly name: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** An XML notation for calls: the start and end of a call and of its parameters. */
interface Notation {
  readonly call: RegExp;
  readonly callEnd: RegExp;
  readonly parameter: RegExp;
  readonly parameterEnd: string;
}

const NOTATIONS: readonly Notation[] = [
  {
    call: /<function=["']?([\w.-]+)["']?\s*>/g,
    callEnd: /<\/function>/g,
    parameter: /\s*<parameter=["']?([\w.-]+)["']?\s*>/y,
    parameterEnd: '</parameter>',
  },
  {
    call: /<invoke\s+name=["']?([\w.-]+)["']?\s*>/g,
    callEnd: /<\/invoke>/g,
    parameter: /\s*<parameter\s+name=["']?([\w.-]+)["']?\s*>/y,
    parameterEnd: '</parameter>',
  },
  {
    call: /<tool_call>\s*([\w.-]+)(?=\s*<arg_key>)/g,
    callEnd: /<\/tool_call>/g,
    parameter: /\s*<arg_key>\s*([\w.-]+)\s*<\/arg_key>\s*<arg_value>/y,
    parameterEnd: '</arg_value>',
  },
  {
    call: /^()(?=\s*<parameter=)/g,
    callEnd: /$/g,
    parameter: /\s*<parameter=["']?([\w.-]+)["']?\s*>/y,
    parameterEnd: '</parameter>',
  },
];

const WRAPPED_CALL = /^(?:print\s*\(([^]*)\)|\[([^]*)\])\s*;?$/;
const CALL = /\s*([\p{L}_][\p{L}\p{N}_.]{0,80})\(/uy;
const CALL_END = /\s*[,;]?\s*/y;

/** Reads tool calls written as XML; undefined if none is found, or if one is truncated or contains anything else. */
export function readToolCalls(text: string): readonly ToolCall[] | undefined {
  for (const notation of NOTATIONS) {
    const calls = readCalls(text, notation);
    if (calls === undefined || calls.length > 0) return calls;
  }
  return undefined;
}

/**
 * Reads one or more calls with named arguments, `report(file="a.ts", line=3)`, also in brackets or in `print(…)`.
 * Undefined for anything else: the meaning of a positional argument is unknown.
 */
export function readFunctionCalls(text: string, isKnownKey: (key: string) => boolean): readonly ToolCall[] | undefined {
  const body = text.trim();
  const [, printedCalls, listed] = WRAPPED_CALL.exec(body) ?? [];
  const calls = printedCalls ?? listed ?? body;
  const toolCalls: ToolCall[] = [];
  for (let at = 0; at < calls.length; at = CALL_END.lastIndex) {
    CALL.lastIndex = at;
    const [start = '', name = ''] = CALL.exec(calls) ?? [];
    const end = start === '' ? undefined : findCallEnd(calls, at);
    const read = end === undefined ? undefined : readNotation(calls.slice(at, end).trim(), isKnownKey, 'matching');
    if (end === undefined || !isJsonObject(read?.value) || !read.kinds.has('tool_call')) return undefined;
    toolCalls.push({ name, parameters: read.value });
    CALL_END.lastIndex = end;
    CALL_END.test(calls);
  }
  return toolCalls.length > 0 ? toolCalls : undefined;
}

/** Finds the end of the call at an offset. */
function findCallEnd(text: string, at: number): number | undefined {
  let depth = 0;
  for (const match of text.slice(at).matchAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[[({]|[\])}]|["']/gs)) {
    const [mark] = match;
    // Stop at the first unclosed quote, to stay linear.
    if (mark === '"' || mark === "'") return undefined;
    if ('[({'.includes(mark)) depth += 1;
    else if ('])}'.includes(mark)) depth -= 1;
    if (depth === 0 && ')]}'.includes(mark)) return at + match.index + 1;
  }
  return undefined;
}

function readCalls(text: string, { call, callEnd, ...notation }: Notation): readonly ToolCall[] | undefined {
  const calls: ToolCall[] = [];
  call.lastIndex = 0;
  for (let match = call.exec(text); match !== null; match = call.exec(text)) {
    const parameters = readParameters(text, call.lastIndex, notation);
    if (parameters === undefined) return undefined;
    callEnd.lastIndex = parameters.end;
    const end = callEnd.exec(text);
    if (end === null || text.slice(parameters.end, end.index).trim() !== '') return undefined;
    calls.push({ name: match[1] ?? '', parameters: parameters.values });
    call.lastIndex = callEnd.lastIndex;
  }
  return calls;
}

function readParameters(
  text: string,
  start: number,
  { parameter, parameterEnd }: Pick<Notation, 'parameter' | 'parameterEnd'>,
): { readonly values: Record<string, unknown>; readonly end: number } | undefined {
  const values: Record<string, unknown> = {};
  let end = start;
  for (;;) {
    parameter.lastIndex = end;
    const match = parameter.exec(text);
    if (match === null) return { values, end };
    const close = text.indexOf(parameterEnd, parameter.lastIndex);
    const name = match[1] ?? '';
    if (close === -1 || Object.hasOwn(values, name)) return undefined;
    setOwnValue(values, name, text.slice(parameter.lastIndex, close).trim());
    end = close + parameterEnd.length;
  }
}
