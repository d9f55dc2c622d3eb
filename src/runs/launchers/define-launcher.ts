import { SluiceError } from '../../base/index.js';
import { engineNameSchema, RUN_ENGINES } from '../../records/index.js';
import type { Launcher } from './launcher.js';
import { readVersion } from './version.js';

/** The required properties of a launcher; the others have defaults. */
export type LauncherDefinition = Pick<Launcher, 'engine' | 'program' | 'reads' | 'launch'> & Partial<Launcher>;

/**
 * Creates a custom launcher, for the port `launchers` of `startRun`. It defines how an engine is started; `reads` is
 * the engine that reads its output, a built-in one or one of the port `engines`. The prompt can be passed through
 * `stdin`, as an argument, or in a file in the run folder.
 *
 * @example
 * const echoLauncher = defineLauncher({
 *   engine: 'echo',
 *   program: 'echo-agent',
 *   reads: 'echo',
 *   launch: ({ prompt }) => ({ command: ['echo-agent', `--say=${prompt}`], env: {} }),
 * })
 * startRun({ engine: 'echo', prompt: 'Hello', workdir }, { data, engines: [echoEngine], launchers: [echoLauncher] })
 */
export function defineLauncher(definition: LauncherDefinition): Launcher {
  const { engine } = definition;
  if (!new RegExp(engineNameSchema.pattern, 'u').test(engine))
    throw createLauncherError(engine, 'start with a letter and use only a-z, 0-9, _ and -');
  if (RUN_ENGINES.some((known) => known === engine))
    throw createLauncherError(engine, 'a built-in engine has this name');
  return {
    testedVersions: '',
    environment: [],
    canResume: false,
    reportsCost: false,
    versionCommand: ['--version'],
    readVersion,
    installHint: `install ${definition.program}`,
    ...definition,
  };
}

function createLauncherError(engine: string, reason: string): SluiceError {
  return new SluiceError('INVALID_ENGINE', `Invalid launcher name ${JSON.stringify(engine)}: ${reason}.`);
}
