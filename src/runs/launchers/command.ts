import { SluiceError } from '../../base/index.js';
import type { Launcher } from './launcher.js';

/**
 * Any other program, as the caller names it. It is not asked for less than it can do, so `permissions` changes nothing:
 * what it may do is the caller's choice of program.
 */
export const commandLauncher: Launcher = {
  engine: 'command',
  program: '',
  reads: 'generic',
  drives: '',
  environment: [],
  canResume: false,
  reportsCost: false,
  versionCommand: [],
  readVersion: () => undefined,
  installHint: 'name the program and its arguments',
  launch({ command = [], prompt, sessionId }) {
    const [program, ...args] = command;
    if (program === undefined || program === '')
      throw new SluiceError('COMMAND_MISSING', 'Engine `command` needs a program. Give its name and arguments.');
    if (sessionId !== undefined)
      throw new SluiceError('RESUME_UNSUPPORTED', `${program} has no sessions. Start a new run instead of resuming.`);
    return { command: [program, ...args], stdin: prompt, env: {} };
  },
};
