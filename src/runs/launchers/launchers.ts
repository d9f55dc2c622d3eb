import { SluiceError } from '../../base/index.js';
import { createAcpLauncher, ACP_LAUNCHERS, type AgentSettings } from './acp.js';
import { claudeLauncher, copilotLauncher, geminiLauncher, iflowLauncher, qwenLauncher } from './cli-launchers.js';
import { codexLauncher } from './codex.js';
import { createProgramLauncher } from './configured.js';
import { completeLauncher, type Launcher } from './launcher.js';
import { opencodeLauncher } from './opencode.js';
import type { RunEngine } from '../../store/records/index.js';

/** Any command the caller chooses. `permissions` has no effect: the command is not restricted. */
const commandLauncher = completeLauncher({
  engine: 'command',
  program: '',
  format: 'generic',
  versionCommand: [],
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
});

/** The built-in launchers by engine. To add one, add a file, a name in `run-spec.ts`, and a line here. */
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

/** Returns all launchers by engine; launchers from the configuration and the caller take precedence. */
export function listLaunchers(
  agents: Readonly<Record<string, AgentSettings>> = {},
  launchers: readonly Launcher[] = [],
): Readonly<Record<string, Launcher>> {
  const configured = Object.entries(agents).map(([engine, settings]) =>
    'acp' in settings ? createAcpLauncher(engine, settings) : createProgramLauncher(engine, settings),
  );
  const addedLaunchers = [...configured, ...launchers].map((launcher) => [launcher.engine, launcher] as const);
  return { ...LAUNCHERS, ...ACP_LAUNCHERS, ...Object.fromEntries(addedLaunchers) };
}

/** Returns an engine's launcher; throws `UNKNOWN_ENGINE` for an unknown name. */
export function getLauncher(
  engine: string,
  agents: Readonly<Record<string, AgentSettings>> = {},
  added: readonly Launcher[] = [],
): Launcher {
  const launchers = listLaunchers(agents, added);
  const known = Object.hasOwn(launchers, engine) ? launchers[engine] : undefined;
  if (known !== undefined) return known;
  throw new SluiceError(
    'UNKNOWN_ENGINE',
    `Unknown engine ${JSON.stringify(engine)}. Use one of: ${Object.keys(launchers).join(', ')}.`,
  );
}
