import type { Scope } from '../api/index.js';
import type { FromSchema, Schema } from '../../base/index.js';
import type { Client } from '../client/index.js';

/** A tool that MCP clients can call. */
export interface McpTool {
  readonly name: string;
  readonly title: string;
  /** A description for the model: what the tool does and returns, and what to call next. */
  readonly description: string;
  /** The scope that the token needs. `decide` is only available with a token that was set explicitly. */
  readonly scope: Exclude<Scope, 'none'>;
  readonly input: Schema;
  readonly output: Schema;
  /** Whether the tool only reads. */
  readonly isReadOnly: boolean;
  /** The arguments have been checked against `input`. */
  call(client: Client, input: unknown, signal: AbortSignal): Promise<object>;
}

/** A tool whose `call` is typed by its schemas. */
interface TypedTool<Input extends Schema, Output extends Schema> extends Omit<McpTool, 'input' | 'output' | 'call'> {
  readonly input: Input;
  readonly output: Output;
  call(client: Client, input: FromSchema<Input>, signal: AbortSignal): Promise<FromSchema<Output>>;
}

/** Defines a tool, with types derived from its schemas. */
export function defineTool<const Input extends Schema, const Output extends Schema>(
  tool: TypedTool<Input, Output>,
): McpTool {
  return {
    ...tool,
    // The server has checked the arguments against the schema.
    call: async (client, input, signal) => (await tool.call(client, input as FromSchema<Input>, signal)) as object,
  };
}
