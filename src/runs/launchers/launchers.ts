import { SluiceError } from '../../base/index.js';
import { claudeLauncher } from './claude.js';
import { codexLauncher } from './codex.js';
import { commandLauncher } from './command.js';
import { copilotLauncher } from './copilot.js';
import { geminiLauncher } from './gemini.js';
import { iflowLauncher } from './iflow.js';
import type { Launcher } from './launcher.js';
import { opencodeLauncher } from './opencode.js';
import { qwenLauncher } from './qwen.js';
import { RUN_ENGINES } from '../../records/index.js';
import type { RunEngine } from '../../records/index.js';

/** Every launcher by the name of its engine. Adding one: a file, a name in `run-engine.ts`, a line here. */
export const LAUNCHERS: Readonly<Record<RunEngine, Launcher>> = {
  codex: codexLauncher,
  gemini: geminiLauncher,
  iflow: iflowLauncher,
  opencode: opencodeLauncher,
  claude: claudeLauncher,
  qwen: qwenLauncher,
  copilot: copilotLauncher,
  command: commandLauncher,
};

/**
 * Returns the launcher of an engine; throws `UNKNOWN_ENGINE` for an unknown name.
 *
 * @example
 * getLauncher('codex').launch({ prompt, workdir, runDir, permissions: 'safe' }).command
 */
export function getLauncher(engine: string): Launcher {
  const known = RUN_ENGINES.find((name) => name === engine);
  if (known !== undefined) return LAUNCHERS[known];
  throw new SluiceError(
    'UNKNOWN_ENGINE',
    `Unknown engine ${JSON.stringify(engine)}. Use one of: ${RUN_ENGINES.join(', ')}.`,
  );
}
