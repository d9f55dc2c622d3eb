import { ENGINE_NAMES } from '../../events/index.js';
import { name, object, oneOf, SluiceError } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import { keepFolders } from './engine-state.js';
import type { LaunchRequest, Launcher } from './launcher.js';
import {
  NETWORK_ENVIRONMENT,
  listModelArguments,
  promptForArgument,
  promptForInput,
  checkSession,
} from './request-checks.js';

const words = { type: 'array', minItems: 1, maxItems: 256, items: { type: 'string', maxLength: 4096 } } as const;

/** A program of the configuration whose output a built-in engine reads. */
export const programAgentSchema = object(
  {
    /**
     * The program and its arguments, with the places `{prompt}`, `{model}`, `{workdir}` and `{run_dir}`. Without `{prompt}` the
     * prompt goes to its input.
     */
    command: words,
    /** The engine that reads what it prints. */
    reads: oneOf(ENGINE_NAMES.filter((engine) => engine !== 'acp')),
  },
  {
    /** The command that resumes a session, with the place `{session}`; without it the agent has no sessions. */
    resume: words,
    /** Names of environment variables it may need; `OPENAI_*` is a pattern. */
    env: { type: 'array', maxItems: 256, items: name },
    /** Folders where it keeps its login and sessions; in a sandbox it may write there. `~` is the home. */
    keeps: { type: 'array', maxItems: 20, items: name },
  },
);

/** See {@link programAgentSchema}. */
export type ProgramAgent = FromSchema<typeof programAgentSchema>;

/**
 * Creates the launcher of a configured program. Its permissions are up to the configuration: `permissions`
 * changes nothing.
 */
export function createProgramLauncher(engine: string, agent: ProgramAgent): Launcher {
  const { command, reads, resume, env = [], keeps } = agent;
  const [program = ''] = command;
  return {
    engine,
    program,
    reads,
    drives: '',
    environment: [...env, ...NETWORK_ENVIRONMENT],
    canResume: resume !== undefined,
    reportsCost: reads === 'claude' || reads === 'opencode',
    versionCommand: [],
    keepsState: keepFolders(keeps),
    readVersion: () => undefined,
    installHint: `install ${program}, or correct agents.${engine} in the configuration`,
    launch(request) {
      const session = checkSession(request.sessionId);
      if (session !== undefined && resume === undefined)
        throw new SluiceError('RESUME_UNSUPPORTED', `agents.${engine} has no "resume". Start a new run instead.`);
      const chosen = session === undefined || resume === undefined ? command : resume;
      const [first = program, ...rest] = fillWords(engine, chosen, request);
      const takesArgument = request.terminal === true || chosen.some((word) => word.includes('{prompt}'));
      return {
        command: [first, ...rest],
        ...(takesArgument ? {} : { stdin: promptForInput(request.prompt) }),
        env: {},
      };
    },
  };
}

/** The words with their placeholders filled in. A word for a model is left out if none was requested. */
function fillWords(engine: string, template: readonly string[], request: LaunchRequest): string[] {
  const { prompt, model, sessionId = '', workdir, runDir } = request;
  const hasModel = template.some((word) => word.includes('{model}'));
  listModelArguments(model);
  if (model !== undefined && !hasModel)
    throw new SluiceError('MODEL_INVALID', `agents.${engine} takes no model. Put {model} into its command.`);
  return template
    .filter((word) => model !== undefined || !word.includes('{model}'))
    .map((word) =>
      word.replaceAll(/\{(prompt|model|session|workdir|run_dir)\}/g, (_, place: string) => {
        switch (place) {
          case 'prompt':
            return toArgument(promptForArgument(prompt), word === '{prompt}');
          case 'model':
            return model ?? '';
          case 'session':
            return sessionId;
          case 'workdir':
            return workdir;
          default:
            return runDir;
        }
      }),
    );
}

/** A prompt that is a word by itself must not become a flag. */
function toArgument(prompt: string, isAlone: boolean): string {
  return isAlone && prompt.startsWith('-') ? ` ${prompt}` : prompt;
}
