import { join } from 'node:path';
import { findClaudeState } from './engine-state.js';
import { createCliLauncher } from './cli-launcher.js';
import type { LaunchRequest } from './launcher.js';
import { renderClaudeServers } from './mcp-servers.js';
import type { McpServer } from '../ports/run-inputs.js';

/** Claude Code, `claude -p`. In `workspace` it may edit files and run commands that only move files. */
export const claudeLauncher = createCliLauncher({
  engine: 'claude',
  testedVersions: '>=2.1.325 <2.2.0',
  environment: [
    'ANTHROPIC_*',
    'CLAUDE_CONFIG_DIR',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'CLAUDE_CODE_USE_*',
    // As root, it rejects `bypass` unless this variable is set.
    'IS_SANDBOX',
  ],
  accepts: { attachments: ['image'], mcpServers: ['stdio', 'http', 'sse'] },
  reportsCost: true,
  listStateFolders: findClaudeState,
  // As root, it rejects `bypass` without this.
  sandboxEnvironment: { IS_SANDBOX: '1' },
  installHint: 'npm install --global @anthropic-ai/claude-code@2.1.325',
  speaks: 'claude',
  listOptions: (request) => [
    '--print',
    '--output-format=stream-json',
    '--verbose',
    '--include-partial-messages',
    ...listPermissionOptions(request),
    ...(listServers(request).length === 0 ? [] : [`--mcp-config=${getServerFile(request)}`]),
  ],
  prepare: (request) => ({
    env: {
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
    ...(listServers(request).length === 0
      ? {}
      : { files: [{ path: getServerFile(request), text: renderClaudeServers(listServers(request)) }] }),
  }),
});

const listServers = ({ mcpServers = [] }: LaunchRequest): readonly McpServer[] => mcpServers;

const getServerFile = ({ runDir }: LaunchRequest): string => join(runDir, 'mcp-servers.json');

/**
 * With `-p` it trusts the folder, whose settings could allow tools and run commands, so only the user's own settings
 * are loaded. A tool call that needs an approval is denied, and the run continues; with `ask` the approval is requested
 * over its streams.
 */
function listPermissionOptions({ permissions, asks, runDir }: LaunchRequest): string[] {
  if (asks === true) return ['--permission-mode=default', '--permission-prompt-tool=stdio', '--setting-sources=user'];
  switch (permissions) {
    case 'safe':
      return ['--permission-mode=dontAsk', '--setting-sources=user'];
    case 'workspace':
      return ['--permission-mode=acceptEdits', '--setting-sources=user', `--add-dir=${runDir}`];
    case 'bypass':
      return ['--permission-mode=bypassPermissions'];
  }
}
