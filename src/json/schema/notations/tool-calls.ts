import { setOwnValue } from '../json-schema.js';
import { readNotation, scanScalar } from './notation-reader.js';

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
const ARGUMENT = /\s*([\p{L}_][\p{L}\p{N}_]{0,60})\s*=\s*(?!=)/uy;
/** A list, tuple or dictionary, or a call within a call. */
const OPENING = /[[({]|[\p{L}_][\p{L}\p{N}_.]{0,80}\(/uy;
const ARGUMENT_END = /\s*(?:,(?:\s*\))?|\))/y;
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
  let at = 0;
  const consume = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(calls);
    if (match !== null) at = pattern.lastIndex;
    return match;
  };
  while (at < calls.length) {
    const name = consume(CALL)?.[1];
    if (name === undefined) return undefined;
    const parameters: Record<string, unknown> = {};
    for (let isOpen = !calls.startsWith(')', at); isOpen;) {
      const key = consume(ARGUMENT)?.[1];
      if (key === undefined || Object.hasOwn(parameters, key)) return undefined;
      const argument = scanScalar(calls, at) ?? scanContainer(calls, at, isKnownKey);
      if (argument === undefined) return undefined;
      setOwnValue(parameters, key, argument.value);
      at = argument.end;
      const end = consume(ARGUMENT_END)?.[0];
      if (end === undefined) return undefined;
      isOpen = !end.endsWith(')');
      if (!isOpen) at -= 1;
    }
    at += 1;
    toolCalls.push({ name, parameters });
    consume(CALL_END);
  }
  return toolCalls.length > 0 ? toolCalls : undefined;
}

/** Scans the list, tuple, dictionary or call at an offset. */
function scanContainer(
  text: string,
  at: number,
  isKnownKey: (key: string) => boolean,
): { readonly value: unknown; readonly end: number } | undefined {
  OPENING.lastIndex = at;
  if (!OPENING.test(text)) return undefined;
  let depth = 0;
  for (const match of text.slice(at).matchAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[[({]|[\])}]|["']/gs)) {
    const [mark] = match;
    // Stop at the first unclosed quote, to stay linear.
    if (mark === '"' || mark === "'") return undefined;
    if ('[({'.includes(mark)) depth += 1;
    else if ('])}'.includes(mark)) depth -= 1;
    if (depth > 0) continue;
    const end = at + match.index + mark.length;
    const read = readNotation(text.slice(at, end), isKnownKey, 'matching');
    return read === undefined ? undefined : { value: read.value, end };
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
