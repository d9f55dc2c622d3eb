import { findIflowState } from './engine-state.js';
import { createCliLauncher } from './cli-launcher.js';
import type { LaunchRequest } from './launcher.js';

/**
 * iFlow CLI, text only. The CLI is no longer published, so this launcher follows its documentation, and no version was
 * tested. The prompt is always an argument, because the CLI is not known to read stdin.
 */
export const iflowLauncher = createCliLauncher({
  engine: 'iflow',
  testedVersions: '',
  environment: ['IFLOW_*'],
  listStateFolders: findIflowState,
  installHint: 'iFlow CLI is no longer published; use another engine',
  readsStdin: false,
  promptOption: '--prompt',
  listOptions: (request) => [choosePermissionOption(request)],
});

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
