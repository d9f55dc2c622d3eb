export { serveMcp, type McpServerOptions } from './serve-mcp.js';
