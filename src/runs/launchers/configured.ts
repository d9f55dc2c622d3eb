import { ENGINE_NAMES } from '../../events/index.js';
import { name, object, oneOf, SluiceError, type FromSchema } from '../../base/index.js';
import { createStateFinder } from './engine-state.js';
import { completeLauncher, type LaunchRequest, type Launcher } from './launcher.js';
import {
  NETWORK_ENVIRONMENT,
  checkModel,
  checkArgumentPrompt,
  checkInputPrompt,
  checkSession,
} from './request-checks.js';

const commandSchema = {
  type: 'array',
  minItems: 1,
  maxItems: 256,
  items: { type: 'string', maxLength: 4096 },
} as const;

/** The settings that any configured agent may have. */
export const requirements = {
  /** Names of environment variables it might need; `OPENAI_*` is a pattern. */
  env: { type: 'array', maxItems: 256, items: name },
  /** Folders where it stores its login and sessions; they are writable in a sandbox. `~` is the home folder. */
  keeps: { type: 'array', maxItems: 20, items: name },
} as const;

/** A configured command whose output a built-in engine reads. */
export const programAgentSchema = object(
  {
    /** The command and its arguments, with placeholders. Without `{prompt}`, the prompt is written to its stdin. */
    command: commandSchema,
    /** The engine that reads its output. */
    format: oneOf(ENGINE_NAMES.filter((engine) => engine !== 'acp')),
  },
  {
    /** The command that resumes a session, with the placeholder `{session}`; without it sessions cannot be resumed. */
    resume: commandSchema,
    ...requirements,
  },
);

/** See {@link programAgentSchema}. */
export type ProgramAgent = FromSchema<typeof programAgentSchema>;

/** Creates a launcher for a configured command, on which `permissions` has no effect. */
export function createProgramLauncher(engine: string, agent: ProgramAgent): Launcher {
  const { command, format, resume, env = [], keeps } = agent;
  const [program = ''] = command;
  return completeLauncher({
    engine,
    program,
    format,
    environment: [...env, ...NETWORK_ENVIRONMENT],
    canResume: resume !== undefined,
    reportsCost: format === 'claude' || format === 'opencode',
    versionCommand: [],
    listStateFolders: createStateFinder(keeps),
    installHint: `install ${program}, or correct agents.${engine} in the configuration`,
    launch(request) {
      const session = checkSession(request.sessionId);
      if (session !== undefined && resume === undefined)
        throw new SluiceError('RESUME_UNSUPPORTED', `agents.${engine} has no "resume". Start a new run instead.`);
      const template = session === undefined || resume === undefined ? command : resume;
      const [first = program, ...rest] = fillPlaceholders(engine, template, request);
      const usesArgument = template.some((word) => word.includes('{prompt}'));
      if (request.terminal === true && !usesArgument)
        throw new SluiceError(
          'TERMINAL_UNSUPPORTED',
          `agents.${engine} gets its prompt through stdin, which a terminal would echo. Add {prompt} to its command, or run it without a terminal.`,
        );
      return {
        command: [first, ...rest],
        ...(usesArgument ? {} : { stdin: checkInputPrompt(request.prompt) }),
        env: {},
      };
    },
  });
}

/** Replaces the placeholders in a command. An argument with `{model}` is omitted if no model was requested. */
function fillPlaceholders(engine: string, template: readonly string[], request: LaunchRequest): string[] {
  const { prompt, model, sessionId = '', workdir, runDir } = request;
  const hasModel = template.some((word) => word.includes('{model}'));
  checkModel(model);
  if (model !== undefined && !hasModel)
    throw new SluiceError('MODEL_INVALID', `agents.${engine} does not accept a model. Add {model} to its command.`);
  return template
    .filter((word) => model !== undefined || !word.includes('{model}'))
    .map((word) => {
      const values: Readonly<Record<string, () => string>> = {
        prompt: () => toArgument(checkArgumentPrompt(prompt), word === '{prompt}'),
        model: () => model ?? '',
        session: () => sessionId,
        workdir: () => workdir,
        run_dir: () => runDir,
      };
      return word.replaceAll(/\{(\w+)\}/g, (found, placeholder: string) =>
        Object.hasOwn(values, placeholder) ? (values[placeholder]?.() ?? found) : found,
      );
    });
}

/** Adds a space before a prompt that would be parsed as a flag. */
function toArgument(prompt: string, isWholeArgument: boolean): string {
  return isWholeArgument && prompt.startsWith('-') ? ` ${prompt}` : prompt;
}
