import { findCopilotState } from './engine-state.js';
import { createCliLauncher } from './cli-launcher.js';
import type { LaunchRequest } from './launcher.js';

/** GitHub Copilot CLI, `copilot --output-format=json`. It does not load the settings of an untrusted folder. */
export const copilotLauncher = createCliLauncher({
  engine: 'copilot',
  testedVersions: '>=1.0.102 <1.1.0',
  environment: ['COPILOT_*', 'GH_TOKEN', 'GITHUB_TOKEN', 'GH_HOST', 'XDG_*'],
  listStateFolders: findCopilotState,
  installHint: 'npm install --global @github/copilot@1.0.102',
  promptOption: '--prompt',
  listOptions: (request) => [
    '--output-format=json',
    '--no-auto-update',
    '--no-color',
    '--no-ask-user',
    '--no-remote',
    '--disable-builtin-mcps',
    ...listPermissionOptions(request),
  ],
  prepare: () => ({ env: { COPILOT_AUTO_UPDATE: 'false' } }),
});

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
