import { omitUndefined } from '../../base/index.js';
import type { RunEngine } from '../../store/records/index.js';
import {
  completeLauncher,
  type Launch,
  type LaunchRequest,
  type Launcher,
  type LauncherDefinition,
} from './launcher.js';
import {
  checkArgumentPrompt,
  checkInputPrompt,
  checkSession,
  isConversation,
  listModelArguments,
  NETWORK_ENVIRONMENT,
} from './request-checks.js';

/** How a CLI is called whose command is the name of its engine, with options and a prompt. */
interface CliDefinition extends Omit<LauncherDefinition, 'program' | 'format' | 'canResume' | 'canAsk' | 'launch'> {
  readonly engine: Exclude<RunEngine, 'command'>;
  /** Lists the options, apart from those for the permissions, the model and the session. */
  readonly listOptions?: (request: LaunchRequest) => readonly string[];
  readonly permissionOptions?: Readonly<
    Record<LaunchRequest['permissions'], (request: LaunchRequest) => readonly string[]>
  >;
  readonly sessionOption?: '--resume' | '--session';
  /** The option for a prompt that is an argument, because of a terminal; without it, such a prompt follows `--`. */
  readonly promptOption?: '--prompt';
  /** False if it is not known to read its prompt from stdin. */
  readonly readsStdin?: false;
  /** Fixed additions to its environment, and settings files to write. */
  readonly prepare?: (request: LaunchRequest) => Pick<Launch, 'env' | 'files'>;
  /** Its two-way mode, with `--input-format=stream-json`. */
  readonly speaks?: 'claude' | 'qwen';
}

export function createCliLauncher(definition: CliDefinition): Launcher {
  const {
    listOptions,
    permissionOptions,
    sessionOption = '--resume',
    promptOption,
    readsStdin,
    prepare,
    speaks,
    ...rest
  } = definition;
  const { engine } = rest;
  return completeLauncher({
    ...rest,
    program: engine,
    format: engine,
    environment: [...(rest.environment ?? []), ...NETWORK_ENVIRONMENT],
    canResume: true,
    ...(speaks === undefined ? {} : { canAsk: true }),
    launch(request) {
      const { attachments, prompt, terminal } = request;
      const session = checkSession(request.sessionId);
      const command = [
        engine,
        ...(listOptions?.(request) ?? []),
        ...(permissionOptions?.[request.permissions](request) ?? []),
        ...listModelArguments(request.model),
        ...(session === undefined ? [] : [`${sessionOption}=${session}`]),
      ] as const;
      const prepared = prepare?.(request) ?? { env: {} };
      if (speaks !== undefined && isConversation(request, engine)) {
        const converse = { speaks, prompt: checkInputPrompt(prompt), ...omitUndefined({ attachments }) };
        return { ...prepared, command: [...command, '--input-format=stream-json'], converse };
      }
      if (terminal !== true && readsStdin !== false) return { ...prepared, command, stdin: checkInputPrompt(prompt) };
      const argument = checkArgumentPrompt(prompt);
      const last = promptOption === undefined ? ['--', argument] : [`${promptOption}=${argument}`];
      return { ...prepared, command: [...command, ...last] };
    },
  });
}
