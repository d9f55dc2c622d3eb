export { handleMcpRequest } from './handle-mcp-request.js';
export { serveMcp } from './serve-mcp.js';
