import { findGeminiState } from './engine-state.js';
import type { LaunchRequest, Launcher } from './launcher.js';
import {
  NETWORK_ENVIRONMENT,
  checkNoComma,
  listModelArguments,
  checkArgumentPrompt,
  checkInputPrompt,
  checkSession,
} from './request-checks.js';
import { readVersion } from './version.js';

/**
 * Gemini CLI, `--output-format stream-json`. Without a user to approve them, it removes the tools that need an
 * approval.
 */
export const geminiLauncher: Launcher = {
  engine: 'gemini',
  program: 'gemini',
  format: 'gemini',
  testedVersions: '>=0.61.0 <0.62.0',
  environment: ['GEMINI_*', 'GOOGLE_*', ...NETWORK_ENVIRONMENT],
  canResume: true,
  reportsCost: false,
  versionCommand: ['--version'],
  listStateFolders: findGeminiState,
  readVersion,
  installHint: 'npm install --global @google/gemini-cli@0.61.0',
  launch(request) {
    const session = checkSession(request.sessionId);
    const options = [
      // It refuses to work in an untrusted folder; with this option, the folder's hooks and MCP servers are still not
      // started.
      '--skip-trust',
      '--output-format=stream-json',
      ...listPermissionOptions(request),
      ...listModelArguments(request.model),
      ...(session === undefined ? [] : [`--resume=${session}`]),
    ];
    const env = {
      // Otherwise it starts a second process, and the first ignores SIGTERM for 25 seconds.
      GEMINI_CLI_NO_RELAUNCH: 'true',
      GEMINI_TELEMETRY_ENABLED: 'false',
    };
    return request.terminal === true
      ? { command: ['gemini', ...options, `--prompt=${checkArgumentPrompt(request.prompt)}`], env }
      : { command: ['gemini', ...options], stdin: checkInputPrompt(request.prompt), env };
  },
};

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
