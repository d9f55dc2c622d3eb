import { SluiceError } from '../../base/index.js';
import type { McpServer, NamedValue } from '../ports/run-inputs.js';

/** A prefix that marks the variable as sensitive, so its value is masked in output. */
const SECRET_PREFIX = 'SLUICE_MCP_SECRET_';

/**
 * Moves the values of variables and headers, which are mostly keys, into the agent's environment; the servers get the
 * names of these variables instead. In arguments, other users on the host could read them; in a run folder file, they
 * would be exported with the run.
 *
 * @example
 * extractSecrets([{ type: 'stdio', name: 'a', command: 'a', args: [], env: [{ name: 'KEY', value: 'k' }] }])
 * // { servers: [{ …, env: [{ name: 'KEY', value: 'SLUICE_MCP_SECRET_1' }] }], variables: { SLUICE_MCP_SECRET_1: 'k' } }
 */
export function extractSecrets(servers: readonly McpServer[]) {
  const variables: Record<string, string> = {};
  const hideValue = ({ name, value }: NamedValue): NamedValue => {
    const variable = `${SECRET_PREFIX}${Object.keys(variables).length + 1}`;
    variables[variable] = value;
    return { name, value: variable };
  };
  const hiddenServers = servers.map((server): McpServer =>
    server.type === 'stdio'
      ? { ...server, env: server.env.map(hideValue) }
      : { ...server, headers: server.headers.map(hideValue) },
  );
  return { servers: hiddenServers, variables };
}

/** Returns the settings for `claude --mcp-config`, which replaces `${NAME}` with the variable. */
export function renderClaudeServers(servers: readonly McpServer[]): string {
  const mcpServers: Record<string, object> = {};
  for (const [name, server] of listByName(extractSecrets(servers).servers)) {
    mcpServers[name] =
      server.type === 'stdio'
        ? { type: 'stdio', command: server.command, args: server.args, env: createVariableReferences(server.env) }
        : { type: server.type, url: server.url, headers: createVariableReferences(server.headers) };
  }
  return JSON.stringify({ mcpServers });
}

function createVariableReferences(values: readonly NamedValue[]): Readonly<Record<string, string>> {
  return Object.fromEntries(values.map(({ name, value }) => [name, `\${${value}}`]));
}

export function listCodexServerOptions(servers: readonly McpServer[]): string[] {
  return listByName(extractSecrets(servers).servers).flatMap(([name, server]) => {
    const set = (key: string, value: string): string => `--config=mcp_servers.${name}.${key}=${value}`;
    if (server.type !== 'stdio') {
      const headers = server.headers.map(({ name: header, value }) => `${toTomlString(header)}=${toTomlString(value)}`);
      return [set('url', toTomlString(server.url)), set('env_http_headers', `{${headers.join(',')}}`)];
    }
    const [command = '', ...args] = renameVariables(server);
    const variables = server.env.map(({ value }) => toTomlString(value));
    return [
      set('command', toTomlString(command)),
      set('args', `[${args.map(toTomlString).join(',')}]`),
      set('env_vars', `[${variables.join(',')}]`),
    ];
  });
}

const VARIABLE_NAME = /^[A-Za-z_]\w*$/u;

/** Codex passes variables under their own names, so a shell assigns them to the names the server expects. */
function renameVariables({ command, args, env }: Extract<McpServer, { type: 'stdio' }>): string[] {
  if (env.length === 0) return [command, ...args];
  const assignments = env.map(({ name, value }) => {
    if (!VARIABLE_NAME.test(name))
      throw new SluiceError('MCP_SERVER_INVALID', `Invalid environment variable name ${JSON.stringify(name)}.`);
    return `${name}="$${value}"`;
  });
  return ['sh', '-c', `${assignments.join(' ')} exec "$0" "$@"`, command, ...args];
}

/** Gives each server a unique name that is a valid key in any settings format. */
function listByName(servers: readonly McpServer[]): [string, McpServer][] {
  const usedNames = new Set<string>();
  return servers.map((server) => {
    const plain = server.name.replaceAll(/[^A-Za-z0-9_-]/gu, '_').slice(0, 64) || 'server';
    let name = plain;
    for (let number = 2; usedNames.has(name); number += 1) name = `${plain}_${number}`;
    usedNames.add(name);
    return [name, server];
  });
}

/** Formats a TOML string: JSON's escapes are a subset of TOML's. */
export function toTomlString(value: string): string {
  return JSON.stringify(value);
}
