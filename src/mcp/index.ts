export { answerMcp } from './answer-mcp.js';
export { serveMcp } from './serve-mcp.js';
