import { SluiceError } from '../../base/index.js';
import { engineNameSchema, RUN_ENGINES } from '../../records/index.js';
import type { Launcher } from './launcher.js';
import { readVersion } from './version.js';

/** The required properties of a launcher; the others have defaults. */
export type LauncherDefinition = Pick<Launcher, 'engine' | 'program' | 'reads' | 'launch'> & Partial<Launcher>;

/**
 * Makes a launcher of a program's own, for the port `launchers` of `startRun`: it knows how an engine is started, and `reads`
 * names the engine that reads what comes back, a built-in one or one of the port `engines`. The prompt may go wherever the program
 * wants it: to its input (`stdin`), into an argument, or into a file of the run folder.
 *
 * @example
 * const parrot = defineLauncher({
 *   engine: 'parrot',
 *   program: 'parrot',
 *   reads: 'parrot',
 *   launch: ({ prompt }) => ({ command: ['parrot', `--say=${prompt}`], env: {} }),
 * })
 * startRun({ engine: 'parrot', prompt: 'Hello', workdir }, { data, engines: [parrotEngine], launchers: [parrot] })
 */
export function defineLauncher(definition: LauncherDefinition): Launcher {
  const { engine } = definition;
  if (!new RegExp(engineNameSchema.pattern, 'u').test(engine)) throw invalid(engine, 'use a word of a-z, 0-9, _ and -');
  if (RUN_ENGINES.some((known) => known === engine)) throw invalid(engine, 'a built-in engine has this name');
  return {
    drives: '',
    environment: [],
    canResume: false,
    reportsCost: false,
    versionCommand: ['--version'],
    readVersion,
    installHint: `install ${definition.program}`,
    ...definition,
  };
}

function invalid(engine: string, why: string): SluiceError {
  return new SluiceError('INVALID_ENGINE', `Invalid launcher name ${JSON.stringify(engine)}: ${why}.`);
}
