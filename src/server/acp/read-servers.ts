import type { McpServer as AcpMcpServer } from '@agentclientprotocol/sdk';
import { SluiceError } from '../../base/index.js';
import { findUnsupported } from '../../runs/index.js';
import type { AcceptedInputs, McpServer } from '../../runs/index.js';

const MAX_SERVERS = 64;

/**
 * Reads the MCP servers that a client wants the engine to use. Throws `ACP_SERVERS_UNSUPPORTED` if the engine does not
 * accept them, because without their tools it would not do what the user expects.
 *
 * @example
 * readServers([{ name: 'docs', command: 'docs-mcp', args: [], env: [] }], engine) // [{ type: 'stdio', name: 'docs', …
 * }]
 */
export function readServers(
  requested: readonly AcpMcpServer[],
  engine: { readonly name: string; readonly accepts: AcceptedInputs },
): McpServer[] {
  if (requested.length > MAX_SERVERS)
    throw createUnsupportedError(`Too many MCP servers: at most ${MAX_SERVERS}. Configure fewer in the client.`);
  const servers = requested.map(readServer);
  const problem = findUnsupported({ attachments: [], mcpServers: servers }, engine.accepts);
  if (problem === undefined) return servers;
  throw createUnsupportedError(
    `${engine.name} does not accept ${problem} from its client. Use another engine, or start sluice acp with --ignore-mcp-servers.`,
  );
}

function readServer(server: AcpMcpServer): McpServer {
  if (!('type' in server)) {
    const { name, command, args, env } = server;
    return { type: 'stdio', name, command, args, env };
  }
  const { type, name, url, headers } = server;
  return { type, name, url, headers };
}

function createUnsupportedError(message: string): SluiceError {
  return new SluiceError('ACP_SERVERS_UNSUPPORTED', message);
}
