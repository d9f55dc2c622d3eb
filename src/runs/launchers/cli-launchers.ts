import { join } from 'node:path';
import { createCliLauncher } from './cli-launcher.js';
import { findClaudeState, findCopilotState, findGeminiState, findIflowState, findQwenState } from './engine-state.js';
import type { LaunchRequest } from './launcher.js';
import { renderClaudeServers } from './mcp-servers.js';
import { checkNoComma } from './request-checks.js';
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
    ...listClaudePermissions(request),
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
function listClaudePermissions({ permissions, asks, runDir }: LaunchRequest): string[] {
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

/** Gemini CLI, `--output-format stream-json`. It removes the tools that need an approval. */
export const geminiLauncher = createCliLauncher({
  engine: 'gemini',
  testedVersions: '>=0.61.0 <0.62.0',
  environment: ['GEMINI_*', 'GOOGLE_*'],
  listStateFolders: findGeminiState,
  installHint: 'npm install --global @google/gemini-cli@0.61.0',
  promptOption: '--prompt',
  listOptions: () => [
    // It refuses to work in an untrusted folder; with this option, the folder's hooks and MCP servers are still not
    // started.
    '--skip-trust',
    '--output-format=stream-json',
  ],
  permissionOptions: {
    safe: () => ['--approval-mode=default'],
    workspace: ({ runDir }) => ['--approval-mode=auto_edit', `--include-directories=${checkNoComma(runDir)}`],
    bypass: () => ['--approval-mode=yolo'],
  },
  // Without the first variable it starts a second process, and the first ignores SIGTERM for 25 seconds.
  prepare: () => ({ env: { GEMINI_CLI_NO_RELAUNCH: 'true', GEMINI_TELEMETRY_ENABLED: 'false' } }),
});

/** Qwen Code, `--output-format stream-json`. */
export const qwenLauncher = createCliLauncher({
  engine: 'qwen',
  testedVersions: '>=0.24.4 <0.25.0',
  environment: ['OPENAI_*', 'QWEN_*', 'DASHSCOPE_API_KEY'],
  listStateFolders: findQwenState,
  installHint: 'npm install --global @qwen-code/qwen-code@0.24.4 (needs Node.js 22)',
  speaks: 'qwen',
  promptOption: '--prompt',
  listOptions: () => ['--output-format=stream-json', '--include-partial-messages'],
  // Safe mode ignores the folder's settings, whose hooks would run without approval, and disables the background agent
  // that writes memories. The mode `auto-edit` could write anywhere on the host, so path rules allow only the two
  // folders.
  permissionOptions: {
    safe: () => ['--safe-mode', '--approval-mode=default'],
    workspace: ({ workdir, runDir }) => [
      '--safe-mode',
      '--approval-mode=default',
      ...[workdir, runDir]
        .map(checkNoComma)
        .flatMap((folder) => [`--allowed-tools=write_file(/${folder}/**)`, `--allowed-tools=edit(/${folder}/**)`]),
      `--include-directories=${checkNoComma(runDir)}`,
    ],
    bypass: () => ['--approval-mode=yolo'],
  },
  prepare: () => ({
    env: {
      // Otherwise it starts a second process, which continues to write after the first is terminated.
      QWEN_CODE_NO_RELAUNCH: 'true',
      QWEN_TELEMETRY_ENABLED: 'false',
      QWEN_USAGE_STATISTICS_ENABLED: 'false',
    },
  }),
});

/** GitHub Copilot CLI, `copilot --output-format=json`. It does not load the settings of an untrusted folder. */
export const copilotLauncher = createCliLauncher({
  engine: 'copilot',
  testedVersions: '>=1.0.102 <1.1.0',
  environment: ['COPILOT_*', 'GH_TOKEN', 'GITHUB_TOKEN', 'GH_HOST', 'XDG_*'],
  listStateFolders: findCopilotState,
  installHint: 'npm install --global @github/copilot@1.0.102',
  promptOption: '--prompt',
  listOptions: () => [
    '--output-format=json',
    '--no-auto-update',
    '--no-color',
    '--no-ask-user',
    '--no-remote',
    '--disable-builtin-mcps',
  ],
  // No user can approve tool calls, so every tool that is not denied must be allowed. Copilot's tools cannot access other
  // folders.
  permissionOptions: {
    safe: () => [...ALLOWED_TOOLS, '--deny-tool=write'],
    workspace: ({ runDir }) => [...ALLOWED_TOOLS, `--add-dir=${runDir}`],
    bypass: () => ['--allow-all'],
  },
  prepare: () => ({ env: { COPILOT_AUTO_UPDATE: 'false' } }),
});

const ALLOWED_TOOLS = [
  '--allow-all-tools',
  '--disallow-temp-dir',
  '--deny-tool=shell',
  '--deny-tool=url',
  '--deny-tool=memory',
];

/** iFlow CLI, text only; no longer published, no version tested. It is not known to read stdin for its prompt. */
export const iflowLauncher = createCliLauncher({
  engine: 'iflow',
  testedVersions: '',
  environment: ['IFLOW_*'],
  listStateFolders: findIflowState,
  installHint: 'iFlow CLI is no longer published; use another engine',
  readsStdin: false,
  promptOption: '--prompt',
  // Without one of these options, iFlow allows everything.
  permissionOptions: { safe: () => ['--default'], workspace: () => ['--autoEdit'], bypass: () => ['--yolo'] },
});
