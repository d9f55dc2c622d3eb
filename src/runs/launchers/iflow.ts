import { iflowState } from './engine-state.js';
import type { LaunchRequest, Launcher } from './launcher.js';
import { NETWORK_ENVIRONMENT, listModelArguments, promptForArgument, checkSession } from './request-checks.js';
import { readVersion } from './version.js';

/**
 * iFlow CLI, text only. The program is no longer published: this follows its documentation, and no version could be
 * proven. Its prompt is an argument always, since it is not known to read its input.
 */
export const iflowLauncher: Launcher = {
  engine: 'iflow',
  program: 'iflow',
  reads: 'iflow',
  drives: '',
  environment: ['IFLOW_*', ...NETWORK_ENVIRONMENT],
  canResume: true,
  reportsCost: false,
  versionCommand: ['--version'],
  keepsState: iflowState,
  readVersion,
  installHint: 'iFlow CLI is no longer published; use another engine',
  launch(request) {
    const session = checkSession(request.sessionId);
    const options = [
      choosePermissionOption(request),
      ...listModelArguments(request.model),
      ...(session === undefined ? [] : [`--resume=${session}`]),
    ];
    return { command: ['iflow', ...options, `--prompt=${promptForArgument(request.prompt)}`], env: {} };
  },
};

/** Left to itself it would allow everything. */
function choosePermissionOption({ permissions }: LaunchRequest): string {
  switch (permissions) {
    case 'safe':
      return '--default';
    case 'workspace':
      return '--autoEdit';
    case 'bypass':
      return '--yolo';
  }
}
