import { geminiState } from './engine-state.js';
import type { LaunchRequest, Launcher } from './launcher.js';
import {
  NETWORK_ENVIRONMENT,
  checkFolderInList,
  listModelArguments,
  promptForArgument,
  promptForInput,
  checkSession,
} from './request-checks.js';
import { readVersion } from './version.js';

/** Gemini CLI, `--output-format stream-json`. Without a person to ask it takes the tools away that need an approval. */
export const geminiLauncher: Launcher = {
  engine: 'gemini',
  program: 'gemini',
  reads: 'gemini',
  drives: '>=0.61.0 <0.62.0',
  environment: ['GEMINI_*', 'GOOGLE_*', ...NETWORK_ENVIRONMENT],
  canResume: true,
  reportsCost: false,
  versionCommand: ['--version'],
  keepsState: geminiState,
  readVersion,
  installHint: 'npm install --global @google/gemini-cli@0.61.0',
  launch(request) {
    const session = checkSession(request.sessionId);
    const options = [
      // A folder it does not trust it refuses to work in; hooks and servers of the folder are not started even so.
      '--skip-trust',
      '--output-format=stream-json',
      ...listPermissionOptions(request),
      ...listModelArguments(request.model),
      ...(session === undefined ? [] : [`--resume=${session}`]),
    ];
    const env = {
      // Otherwise a second process does the work, and the first ignores SIGTERM for 25 seconds.
      GEMINI_CLI_NO_RELAUNCH: 'true',
      GEMINI_TELEMETRY_ENABLED: 'false',
    };
    return request.terminal === true
      ? { command: ['gemini', ...options, `--prompt=${promptForArgument(request.prompt)}`], env }
      : { command: ['gemini', ...options], stdin: promptForInput(request.prompt), env };
  },
};

function listPermissionOptions({ permissions, runDir }: LaunchRequest): string[] {
  switch (permissions) {
    case 'safe':
      return ['--approval-mode=default'];
    case 'workspace':
      return ['--approval-mode=auto_edit', `--include-directories=${checkFolderInList(runDir)}`];
    case 'bypass':
      return ['--approval-mode=yolo'];
  }
}
