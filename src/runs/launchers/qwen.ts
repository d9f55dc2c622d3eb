import { findQwenState } from './engine-state.js';
import { createCliLauncher } from './cli-launcher.js';
import type { LaunchRequest } from './launcher.js';
import { checkNoComma } from './request-checks.js';

/** Qwen Code, `--output-format stream-json`. */
export const qwenLauncher = createCliLauncher({
  engine: 'qwen',
  testedVersions: '>=0.24.4 <0.25.0',
  environment: ['OPENAI_*', 'QWEN_*', 'DASHSCOPE_API_KEY'],
  listStateFolders: findQwenState,
  installHint: 'npm install --global @qwen-code/qwen-code@0.24.4 (needs Node.js 22)',
  speaks: 'qwen',
  promptOption: '--prompt',
  listOptions: (request) => [
    '--output-format=stream-json',
    '--include-partial-messages',
    ...listPermissionOptions(request),
  ],
  prepare: () => ({
    env: {
      // Otherwise it starts a second process, which continues to write after the first is terminated.
      QWEN_CODE_NO_RELAUNCH: 'true',
      QWEN_TELEMETRY_ENABLED: 'false',
      QWEN_USAGE_STATISTICS_ENABLED: 'false',
    },
  }),
});

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
