import type { McpServer as AcpServer } from '@agentclientprotocol/sdk';
import { SluiceError } from '../base/index.js';
import { findUnsupported } from '../runs/index.js';
import type { AcceptedInputs, McpServer } from '../runs/index.js';

const MAX_SERVERS = 64;

/**
 * Reads the MCP servers that a client wants the engine to use. Throws `ACP_SERVERS_UNSUPPORTED` if the engine does not take
 * them: without its tools it would do something else than the person expects.
 *
 * @example
 * readServers([{ name: 'docs', command: 'docs-mcp', args: [], env: [] }], engine) // [{ type: 'stdio', name: 'docs', … }]
 */
export function readServers(
  given: readonly AcpServer[],
  engine: { readonly name: string; readonly accepts: AcceptedInputs },
): McpServer[] {
  if (given.length > MAX_SERVERS) throw unsupported(`Too many MCP servers: at most ${MAX_SERVERS}.`);
  const servers = given.map(readServer);
  const what = findUnsupported({ attachments: [], mcpServers: servers }, engine.accepts);
  if (what === undefined) return servers;
  throw unsupported(
    `${engine.name} does not accept ${what} from its client. Use another engine, or start sluice acp with --ignore-mcp-servers.`,
  );
}

function readServer(server: AcpServer): McpServer {
  if (!('type' in server)) {
    const { name, command, args, env } = server;
    return { type: 'stdio', name, command, args, env };
  }
  const { type, name, url, headers } = server;
  return { type, name, url, headers };
}

function unsupported(message: string): SluiceError {
  return new SluiceError('ACP_SERVERS_UNSUPPORTED', message);
}
