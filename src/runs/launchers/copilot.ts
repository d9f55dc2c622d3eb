import { copilotState } from './engine-state.js';
import type { LaunchRequest, Launcher } from './launcher.js';
import {
  NETWORK_ENVIRONMENT,
  listModelArguments,
  promptForArgument,
  promptForInput,
  checkSession,
} from './request-checks.js';
import { readVersion } from './version.js';

/** GitHub Copilot CLI, `copilot --output-format=json`. It loads no settings of a folder that was not trusted. */
export const copilotLauncher: Launcher = {
  engine: 'copilot',
  program: 'copilot',
  reads: 'copilot',
  drives: '>=1.0.102 <1.1.0',
  environment: ['COPILOT_*', 'GH_TOKEN', 'GITHUB_TOKEN', 'GH_HOST', 'XDG_*', ...NETWORK_ENVIRONMENT],
  canResume: true,
  reportsCost: false,
  versionCommand: ['--version'],
  keepsState: copilotState,
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
      ? { command: ['copilot', ...options, `--prompt=${promptForArgument(request.prompt)}`], env }
      : { command: ['copilot', ...options], stdin: promptForInput(request.prompt), env };
  },
};

/** No person can be asked, so everything that is not denied must be allowed. Files outside of the folders stay closed to its own tools. */
function listPermissionOptions({ permissions, runDir }: LaunchRequest): string[] {
  switch (permissions) {
    case 'safe':
      return ['--allow-all-tools', '--disallow-temp-dir', ...CLOSED, '--deny-tool=write'];
    case 'workspace':
      return ['--allow-all-tools', '--disallow-temp-dir', ...CLOSED, `--add-dir=${runDir}`];
    case 'bypass':
      return ['--allow-all'];
  }
}

const CLOSED = ['--deny-tool=shell', '--deny-tool=url', '--deny-tool=memory'];
