export { handleMcpRequest, serveMcp } from './create-mcp-server.js';
