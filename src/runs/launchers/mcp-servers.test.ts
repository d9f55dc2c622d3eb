import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderClaudeServers, listCodexServerOptions, extractSecrets } from './mcp-servers.js';

const STDIO = {
  type: 'stdio',
  name: 'docs',
  command: '/bin/docs',
  args: ['--all', 'a "b"'],
  env: [{ name: 'KEY', value: 'k1' }],
} as const;
const HTTP = {
  type: 'http',
  name: 'far away',
  url: 'https://example.org/mcp',
  headers: [{ name: 'Authorization', value: 'k2' }],
} as const;

describe('MCP servers in engine settings', () => {
  it('have an environment variable name in place of each value', () => {
    expect(extractSecrets([STDIO, HTTP]).variables).toEqual({ SLUICE_MCP_SECRET_1: 'k1', SLUICE_MCP_SECRET_2: 'k2' });
    expect(JSON.parse(renderClaudeServers([STDIO, HTTP]))).toEqual({
      mcpServers: {
        docs: { type: 'stdio', command: '/bin/docs', args: ['--all', 'a "b"'], env: { KEY: '${SLUICE_MCP_SECRET_1}' } },
        far_away: { type: 'http', url: HTTP.url, headers: { Authorization: '${SLUICE_MCP_SECRET_2}' } },
      },
    });
    expect(listCodexServerOptions([STDIO, HTTP])).toEqual([
      '--config=mcp_servers.docs.command="sh"',
      String.raw`--config=mcp_servers.docs.args=["-c","KEY=\"$SLUICE_MCP_SECRET_1\" exec \"$0\" \"$@\"","/bin/docs","--all","a \"b\""]`,
      '--config=mcp_servers.docs.env_vars=["SLUICE_MCP_SECRET_1"]',
      '--config=mcp_servers.far_away.url="https://example.org/mcp"',
      '--config=mcp_servers.far_away.env_http_headers={"Authorization"="SLUICE_MCP_SECRET_2"}',
    ]);
  });

  it('are started without a shell if they need no variables', () => {
    const [command] = listCodexServerOptions([{ ...STDIO, env: [] }]);
    expect(command).toBe('--config=mcp_servers.docs.command="/bin/docs"');
  });

  it('have unique names that are valid keys, whatever names the client uses', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 8 }), (names) => {
        const servers = names.map((name) => ({ ...STDIO, name, env: [] }));
        const keys = Object.keys((JSON.parse(renderClaudeServers(servers)) as { mcpServers: object }).mcpServers);
        expect(keys).toHaveLength(names.length);
        for (const key of keys) expect(key).toMatch(/^[\w-]+$/u);
      }),
    );
  });

  it('cannot inject commands through a variable name', () => {
    const env = [{ name: 'A=1; rm -rf /; B', value: 'x' }];
    expect(() => listCodexServerOptions([{ ...STDIO, env }])).toThrow(
      expect.objectContaining({ code: 'MCP_SERVER_INVALID' }),
    );
  });
});
