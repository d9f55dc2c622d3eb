import { qwenState } from './engine-state.js';
import type { LaunchRequest, Launcher } from './launcher.js';
import {
  NETWORK_ENVIRONMENT,
  checkFolderInList,
  isConversation,
  listModelArguments,
  promptForArgument,
  promptForInput,
  checkSession,
} from './request-checks.js';
import { readVersion } from './version.js';

/** Qwen Code, `--output-format stream-json`. */
export const qwenLauncher: Launcher = {
  engine: 'qwen',
  program: 'qwen',
  reads: 'qwen',
  drives: '>=0.24.4 <0.25.0',
  environment: ['OPENAI_*', 'QWEN_*', 'DASHSCOPE_API_KEY', ...NETWORK_ENVIRONMENT],
  canResume: true,
  canAsk: true,
  reportsCost: false,
  versionCommand: ['--version'],
  keepsState: qwenState,
  readVersion,
  installHint: 'npm install --global @qwen-code/qwen-code@0.24.4 (needs Node.js 22)',
  launch(request) {
    const session = checkSession(request.sessionId);
    const options = [
      '--output-format=stream-json',
      '--include-partial-messages',
      ...listPermissionOptions(request),
      ...listModelArguments(request.model),
      ...(session === undefined ? [] : [`--resume=${session}`]),
    ];
    const env = {
      // Otherwise a second process does the work and continues writing after the first was ended.
      QWEN_CODE_NO_RELAUNCH: 'true',
      QWEN_TELEMETRY_ENABLED: 'false',
      QWEN_USAGE_STATISTICS_ENABLED: 'false',
    };
    if (isConversation(request, 'qwen')) {
      const command = ['qwen', ...options, '--input-format=stream-json'] as const;
      return { command, env, converse: { speaks: 'qwen', prompt: promptForInput(request.prompt) } };
    }
    return request.terminal === true
      ? { command: ['qwen', ...options, `--prompt=${promptForArgument(request.prompt)}`], env }
      : { command: ['qwen', ...options], stdin: promptForInput(request.prompt), env };
  },
};

/**
 * Safe mode leaves out the folder's own settings, whose hooks would run without asking, and the background agent that writes
 * memories. The mode `auto-edit` would write anywhere on the machine: rules with paths allow the two folders only.
 */
function listPermissionOptions({ permissions, workdir, runDir }: LaunchRequest): string[] {
  switch (permissions) {
    case 'safe':
      return ['--safe-mode', '--approval-mode=default'];
    case 'workspace':
      return [
        '--safe-mode',
        '--approval-mode=default',
        ...[workdir, runDir]
          .map(checkFolderInList)
          .flatMap((folder) => [`--allowed-tools=write_file(/${folder}/**)`, `--allowed-tools=edit(/${folder}/**)`]),
        `--include-directories=${checkFolderInList(runDir)}`,
      ];
    case 'bypass':
      return ['--approval-mode=yolo'];
  }
}
