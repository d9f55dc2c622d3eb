export { streamToolCalls, type ToolCallOptions, type ToolCallSnapshot } from '../json/adapters/tool-calls.js';
