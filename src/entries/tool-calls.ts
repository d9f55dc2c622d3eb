export { streamToolCalls, type ToolCallOptions, type ToolCallSnapshot } from '../adapters/tool-calls.js';
