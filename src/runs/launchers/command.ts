import { SluiceError } from '../../base/index.js';
import type { Launcher } from './launcher.js';

/** Any command the caller chooses. `permissions` has no effect: the command is not restricted. */
export const commandLauncher: Launcher = {
  engine: 'command',
  program: '',
  format: 'generic',
  testedVersions: '',
  environment: [],
  canResume: false,
  reportsCost: false,
  versionCommand: [],
  readVersion: () => undefined,
  installHint: 'pass the executable and its arguments',
  launch({ command = [], prompt, sessionId }) {
    const [program, ...args] = command;
    if (program === undefined || program === '')
      throw new SluiceError(
        'COMMAND_MISSING',
        'Engine `command` needs a command. Pass the executable and its arguments.',
      );
    if (sessionId !== undefined)
      throw new SluiceError(
        'RESUME_UNSUPPORTED',
        `${program} does not support sessions. Start a new run instead of resuming.`,
      );
    return { command: [program, ...args], stdin: prompt, env: {} };
  },
};
