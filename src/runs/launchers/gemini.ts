import { findGeminiState } from './engine-state.js';
import { createCliLauncher } from './cli-launcher.js';
import type { LaunchRequest } from './launcher.js';
import { checkNoComma } from './request-checks.js';

/**
 * Gemini CLI, `--output-format stream-json`. Without a user to approve them, it removes the tools that need an
 * approval.
 */
export const geminiLauncher = createCliLauncher({
  engine: 'gemini',
  testedVersions: '>=0.61.0 <0.62.0',
  environment: ['GEMINI_*', 'GOOGLE_*'],
  listStateFolders: findGeminiState,
  installHint: 'npm install --global @google/gemini-cli@0.61.0',
  promptOption: '--prompt',
  listOptions: (request) => [
    // It refuses to work in an untrusted folder; with this option, the folder's hooks and MCP servers are still not
    // started.
    '--skip-trust',
    '--output-format=stream-json',
    ...listPermissionOptions(request),
  ],
  // Without the first variable it starts a second process, and the first ignores SIGTERM for 25 seconds.
  prepare: () => ({ env: { GEMINI_CLI_NO_RELAUNCH: 'true', GEMINI_TELEMETRY_ENABLED: 'false' } }),
});

function listPermissionOptions({ permissions, runDir }: LaunchRequest): string[] {
  switch (permissions) {
    case 'safe':
      return ['--approval-mode=default'];
    case 'workspace':
      return ['--approval-mode=auto_edit', `--include-directories=${checkNoComma(runDir)}`];
    case 'bypass':
      return ['--approval-mode=yolo'];
  }
}
