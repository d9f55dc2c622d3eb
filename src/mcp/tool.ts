import type { Scope } from '../api/index.js';
import type { FromSchema, Schema } from '../base/index.js';
import type { Client } from '../client/index.js';

/** A tool that clients of the protocol can call. */
export interface McpTool {
  readonly name: string;
  readonly title: string;
  /** For the model: what it does, what it returns, what to call next. */
  readonly description: string;
  /** The scope that its token needs. `decide` is a person's, unless a token was given that has it. */
  readonly scope: Exclude<Scope, 'none'>;
  readonly input: Schema;
  readonly output: Schema;
  /** Whether it changes nothing. */
  readonly readsOnly: boolean;
  /** Arguments are checked against `input` before. */
  call(client: Client, input: unknown, signal: AbortSignal): Promise<object>;
}

/** A tool with its types: what `call` receives and returns is what the schemas say. */
interface TypedTool<Input extends Schema, Output extends Schema> extends Omit<McpTool, 'input' | 'output' | 'call'> {
  readonly input: Input;
  readonly output: Output;
  call(client: Client, input: FromSchema<Input>, signal: AbortSignal): Promise<FromSchema<Output>>;
}

/** Keeps the types of a tool together while it is written. */
export function defineTool<const Input extends Schema, const Output extends Schema>(
  tool: TypedTool<Input, Output>,
): McpTool {
  return {
    ...tool,
    // The server checks arguments against the schema first.
    call: async (client, input, signal) => (await tool.call(client, input as FromSchema<Input>, signal)) as object,
  };
}
