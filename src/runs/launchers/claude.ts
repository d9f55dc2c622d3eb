import { join } from 'node:path';
import { omitUndefined } from '../../base/index.js';
import { claudeState } from './engine-state.js';
import type { LaunchRequest, Launcher } from './launcher.js';
import { renderClaudeServers } from './mcp-servers.js';
import {
  NETWORK_ENVIRONMENT,
  isConversation,
  listModelArguments,
  promptForArgument,
  promptForInput,
  checkSession,
} from './request-checks.js';
import { readVersion } from './version.js';

/** Claude Code, `claude -p`. In `workspace` it may edit files and run commands that only move files. */
export const claudeLauncher: Launcher = {
  engine: 'claude',
  program: 'claude',
  reads: 'claude',
  drives: '>=2.1.325 <2.2.0',
  environment: [
    'ANTHROPIC_*',
    'CLAUDE_CONFIG_DIR',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'CLAUDE_CODE_USE_*',
    // As root it refuses `bypass` unless this says that the machine is a sandbox.
    'IS_SANDBOX',
    ...NETWORK_ENVIRONMENT,
  ],
  canResume: true,
  canAsk: true,
  accepts: { attachments: ['image'], mcpServers: ['stdio', 'http', 'sse'] },
  reportsCost: true,
  versionCommand: ['--version'],
  keepsState: claudeState,
  // As root it refuses `bypass` anywhere else.
  sandboxEnvironment: { IS_SANDBOX: '1' },
  readVersion,
  installHint: 'npm install --global @anthropic-ai/claude-code@2.1.325',
  launch(request) {
    const session = checkSession(request.sessionId);
    const { attachments, mcpServers = [] } = request;
    const settings = { path: join(request.runDir, 'mcp-servers.json'), text: renderClaudeServers(mcpServers) };
    const files = mcpServers.length === 0 ? {} : { files: [settings] };
    const options = [
      '--print',
      '--output-format=stream-json',
      '--verbose',
      '--include-partial-messages',
      ...listPermissionOptions(request),
      ...listModelArguments(request.model),
      ...(session === undefined ? [] : [`--resume=${session}`]),
      ...(mcpServers.length === 0 ? [] : [`--mcp-config=${settings.path}`]),
    ];
    const env = {
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    };
    if (isConversation(request, 'claude')) {
      const command = ['claude', ...options, '--input-format=stream-json'] as const;
      const prompt = promptForInput(request.prompt);
      return { command, env, ...files, converse: { speaks: 'claude', prompt, ...omitUndefined({ attachments }) } };
    }
    return request.terminal === true
      ? { command: ['claude', ...options, '--', promptForArgument(request.prompt)], env, ...files }
      : { command: ['claude', ...options], stdin: promptForInput(request.prompt), env, ...files };
  },
};

/**
 * Without a person to ask, `-p` trusts the folder: its settings could allow tools and start programs. Only the user's
 * own settings are read. What would need an approval is denied, and the run continues, or is asked for over its streams.
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
