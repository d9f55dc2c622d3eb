export { serveMcp } from './serve-mcp.js';
