import { findCopilotState } from './engine-state.js';
import type { LaunchRequest, Launcher } from './launcher.js';
import {
  NETWORK_ENVIRONMENT,
  listModelArguments,
  checkArgumentPrompt,
  checkInputPrompt,
  checkSession,
} from './request-checks.js';
import { readVersion } from './version.js';

/** GitHub Copilot CLI, `copilot --output-format=json`. It does not load the settings of an untrusted folder. */
export const copilotLauncher: Launcher = {
  engine: 'copilot',
  program: 'copilot',
  format: 'copilot',
  testedVersions: '>=1.0.102 <1.1.0',
  environment: ['COPILOT_*', 'GH_TOKEN', 'GITHUB_TOKEN', 'GH_HOST', 'XDG_*', ...NETWORK_ENVIRONMENT],
  canResume: true,
  reportsCost: false,
  versionCommand: ['--version'],
  listStateFolders: findCopilotState,
  readVersion,
  installHint: 'npm install --global @github/copilot@1.0.102',
  launch(request) {
    const session = checkSession(request.sessionId);
    const options = [
      '--output-format=json',
      '--no-auto-update',
      '--no-color',
      '--no-ask-user',
      '--no-remote',
      '--disable-builtin-mcps',
      ...listPermissionOptions(request),
      ...listModelArguments(request.model),
      ...(session === undefined ? [] : [`--resume=${session}`]),
    ];
    const env = { COPILOT_AUTO_UPDATE: 'false' };
    return request.terminal === true
      ? { command: ['copilot', ...options, `--prompt=${checkArgumentPrompt(request.prompt)}`], env }
      : { command: ['copilot', ...options], stdin: checkInputPrompt(request.prompt), env };
  },
};

/**
 * No user can approve tool calls, so every tool that is not denied must be allowed. Copilot's tools cannot access other
 * folders.
 */
function listPermissionOptions({ permissions, runDir }: LaunchRequest): string[] {
  switch (permissions) {
    case 'safe':
      return ['--allow-all-tools', '--disallow-temp-dir', ...DENIED_TOOLS, '--deny-tool=write'];
    case 'workspace':
      return ['--allow-all-tools', '--disallow-temp-dir', ...DENIED_TOOLS, `--add-dir=${runDir}`];
    case 'bypass':
      return ['--allow-all'];
  }
}

const DENIED_TOOLS = ['--deny-tool=shell', '--deny-tool=url', '--deny-tool=memory'];
