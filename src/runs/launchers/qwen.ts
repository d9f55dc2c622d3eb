import { findQwenState } from './engine-state.js';
import type { LaunchRequest, Launcher } from './launcher.js';
import {
  NETWORK_ENVIRONMENT,
  checkNoComma,
  isConversation,
  listModelArguments,
  checkArgumentPrompt,
  checkInputPrompt,
  checkSession,
} from './request-checks.js';
import { readVersion } from './version.js';

/** Qwen Code, `--output-format stream-json`. */
export const qwenLauncher: Launcher = {
  engine: 'qwen',
  program: 'qwen',
  format: 'qwen',
  testedVersions: '>=0.24.4 <0.25.0',
  environment: ['OPENAI_*', 'QWEN_*', 'DASHSCOPE_API_KEY', ...NETWORK_ENVIRONMENT],
  canResume: true,
  canAsk: true,
  reportsCost: false,
  versionCommand: ['--version'],
  listStateFolders: findQwenState,
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
      // Otherwise it starts a second process, which continues to write after the first is terminated.
      QWEN_CODE_NO_RELAUNCH: 'true',
      QWEN_TELEMETRY_ENABLED: 'false',
      QWEN_USAGE_STATISTICS_ENABLED: 'false',
    };
    if (isConversation(request, 'qwen')) {
      const command = ['qwen', ...options, '--input-format=stream-json'] as const;
      return { command, env, converse: { speaks: 'qwen', prompt: checkInputPrompt(request.prompt) } };
    }
    return request.terminal === true
      ? { command: ['qwen', ...options, `--prompt=${checkArgumentPrompt(request.prompt)}`], env }
      : { command: ['qwen', ...options], stdin: checkInputPrompt(request.prompt), env };
  },
};

/**
 * Safe mode ignores the folder's settings, whose hooks would run without approval, and disables the background agent
 * that writes memories. The mode `auto-edit` could write anywhere on the host, so path rules allow only the two
 * folders.
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
          .map(checkNoComma)
          .flatMap((folder) => [`--allowed-tools=write_file(/${folder}/**)`, `--allowed-tools=edit(/${folder}/**)`]),
        `--include-directories=${checkNoComma(runDir)}`,
      ];
    case 'bypass':
      return ['--approval-mode=yolo'];
  }
}
