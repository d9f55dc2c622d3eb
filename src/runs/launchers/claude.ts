import { join } from 'node:path';
import { omitUndefined } from '../../base/index.js';
import { findClaudeState } from './engine-state.js';
import type { LaunchRequest, Launcher } from './launcher.js';
import { renderClaudeServers } from './mcp-servers.js';
import {
  NETWORK_ENVIRONMENT,
  isConversation,
  listModelArguments,
  checkArgumentPrompt,
  checkInputPrompt,
  checkSession,
} from './request-checks.js';
import { readVersion } from './version.js';

/** Claude Code, `claude -p`. In `workspace` it may edit files and run commands that only move files. */
export const claudeLauncher: Launcher = {
  engine: 'claude',
  program: 'claude',
  format: 'claude',
  testedVersions: '>=2.1.325 <2.2.0',
  environment: [
    'ANTHROPIC_*',
    'CLAUDE_CONFIG_DIR',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'CLAUDE_CODE_USE_*',
    // As root, it rejects `bypass` unless this variable is set.
    'IS_SANDBOX',
    ...NETWORK_ENVIRONMENT,
  ],
  canResume: true,
  canAsk: true,
  accepts: { attachments: ['image'], mcpServers: ['stdio', 'http', 'sse'] },
  reportsCost: true,
  versionCommand: ['--version'],
  listStateFolders: findClaudeState,
  // As root, it rejects `bypass` without this.
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
      const prompt = checkInputPrompt(request.prompt);
      return { command, env, ...files, converse: { speaks: 'claude', prompt, ...omitUndefined({ attachments }) } };
    }
    return request.terminal === true
      ? { command: ['claude', ...options, '--', checkArgumentPrompt(request.prompt)], env, ...files }
      : { command: ['claude', ...options], stdin: checkInputPrompt(request.prompt), env, ...files };
  },
};

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
