import { setOwnValue } from '../json-schema.js';

/** The call of a tool, with its parameters as texts. */
export interface ToolCall {
  readonly name: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** One way of writing calls as XML: how a call and its parameters begin and end. */
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
];

/** Reads the calls of tools that a text has as XML; undefined if it has none, or one that was cut or has something else in it. */
export function readToolCalls(text: string): readonly ToolCall[] | undefined {
  for (const notation of NOTATIONS) {
    const calls = readCalls(text, notation);
    if (calls === undefined || calls.length > 0) return calls;
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
