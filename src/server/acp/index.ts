export { serveAcp } from './serve-acp.js';
export type { Permissions } from './acp-sessions.js';
