import { findIflowState } from './engine-state.js';
import type { LaunchRequest, Launcher } from './launcher.js';
import { NETWORK_ENVIRONMENT, listModelArguments, checkArgumentPrompt, checkSession } from './request-checks.js';
import { readVersion } from './version.js';

/**
 * iFlow CLI, text only. The CLI is no longer published, so this launcher follows its documentation, and no version was
 * tested. The prompt is always an argument, because the CLI is not known to read stdin.
 */
export const iflowLauncher: Launcher = {
  engine: 'iflow',
  program: 'iflow',
  format: 'iflow',
  testedVersions: '',
  environment: ['IFLOW_*', ...NETWORK_ENVIRONMENT],
  canResume: true,
  reportsCost: false,
  versionCommand: ['--version'],
  listStateFolders: findIflowState,
  readVersion,
  installHint: 'iFlow CLI is no longer published; use another engine',
  launch(request) {
    const session = checkSession(request.sessionId);
    const options = [
      choosePermissionOption(request),
      ...listModelArguments(request.model),
      ...(session === undefined ? [] : [`--resume=${session}`]),
    ];
    return { command: ['iflow', ...options, `--prompt=${checkArgumentPrompt(request.prompt)}`], env: {} };
  },
};

/** Without one of these options, iFlow allows everything. */
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
