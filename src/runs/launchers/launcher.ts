import type { EngineName } from '../../events/index.js';
import { engineNameSchema, RUN_ENGINES, type RunSpec } from '../../store/records/index.js';
import type { StateFolder } from '../sandbox/index.js';
import type { AcceptedInputs, Attachment, McpServer } from '../ports/run-inputs.js';
import { SluiceError } from '../../base/index.js';
import { readVersion } from './version.js';

/**
 * An agent's permissions. `safe`: read only. `workspace`: also edit the working folder and the run folder. `bypass`:
 * everything, without approvals; only in a sandbox. `ask` is not included: launchers receive it as `safe` with `asks`.
 */
export type Permissions = Exclude<NonNullable<RunSpec['permissions']>, 'ask'>;

/** The process to launch. Folders are absolute and without links: agents compare them with resolved paths. */
export interface LaunchRequest {
  /** The prompt; may be empty only for `command`. */
  readonly prompt: string;
  readonly workdir: string;
  readonly runDir: string;
  readonly permissions: Permissions;
  /** Whether the agent requests approval for what `permissions` does not allow. */
  readonly asks?: boolean;
  /** Whether the agent is started in its two-way mode, if it has one. */
  readonly converses?: boolean;
  readonly model?: string;
  /** The engine's id of the session to resume. */
  readonly sessionId?: string;
  /** The command and its arguments, for the engine `command`. */
  readonly command?: readonly string[];
  /** Whether the agent runs in a terminal, which would echo its input: the prompt is then passed as an argument. */
  readonly terminal?: boolean;
  /** Images and files in the prompt; only kinds that the launcher accepts. */
  readonly attachments?: readonly Attachment[];
  /** Servers the agent may use besides its own; only types that the launcher accepts. */
  readonly mcpServers?: readonly McpServer[];
}

/** The process's command. */
export interface Launch {
  /** The executable and its arguments; not a shell command line. */
  readonly command: readonly [string, ...string[]];
  readonly stdin?: string;
  /** For a two-way agent, which receives messages over its streams instead of a single input. */
  readonly converse?: ConversationRequest;
  /** Fixed additions to the environment; they take precedence over inherited variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Settings files to write before the start; all of them in the run folder. */
  readonly files?: readonly LaunchFile[];
}

/** A two-way agent's protocol. */
export interface ConversationRequest {
  readonly prompt: string;
  /** The protocol: `acp` (default), the stream-json of `claude` or `qwen`, or `codex app-server`. */
  readonly speaks?: 'acp' | 'claude' | 'qwen' | 'app-server';
  /** Thread settings, for `app-server`. */
  readonly thread?: Readonly<Record<string, string>>;
  /** The authentication method to use, if the agent offers it. */
  readonly authenticate?: string;
  /** The first prompt's attachments. */
  readonly attachments?: readonly Attachment[];
  /** Servers passed when the session is opened, for `acp`. */
  readonly mcpServers?: readonly McpServer[];
}

/** An engine's settings file. */
export interface LaunchFile {
  readonly path: string;
  readonly text: string;
}

/** Launches one engine; `events` reads its output. */
export interface Launcher {
  readonly engine: string;
  /** The name of its executable in PATH; empty for `command`, where the caller chooses it. */
  readonly program: string;
  /** The engine of `events` that reads its output. */
  readonly format: EngineName | (string & {});
  /** The tested versions, such as `>=0.166.0 <0.167.0`; empty if no version was tested. */
  readonly testedVersions: string;
  /** Names of environment variables it might need, besides those every process gets; `OPENAI_*` is a pattern. */
  readonly environment: readonly string[];
  readonly canResume: boolean;
  /** Whether it has a two-way mode, in which it can request permissions. */
  readonly canAsk?: true;
  /** Whether its terminal can show records that stdout lost: unless the spec decides, one is captured if possible. */
  readonly usesTerminal?: true;
  /** Inputs it accepts besides text. An ACP agent reports these itself when it is started. */
  readonly accepts?: AcceptedInputs;
  /** Whether its output contains the cost of a run; otherwise `limits.cost` has no effect. */
  readonly reportsCost: boolean;
  /** The arguments that make it print its version. */
  readonly versionCommand: readonly string[];
  /** Finds the version in that command's output. */
  readVersion(text: string): string | undefined;
  /** Checks the folders before the launch; rejects with a typed error if the permissions cannot be enforced. */
  inspect?(request: LaunchRequest): Promise<void>;
  /** Lists folders where it stores its login and sessions; in a sandbox, nothing else in the home folder is visible. */
  listStateFolders?(env: Readonly<Record<string, string>>): readonly StateFolder[];
  /** Added to the environment inside a sandbox. */
  readonly sandboxEnvironment?: Readonly<Record<string, string>>;
  /** Throws a typed error for a request it cannot launch. */
  launch(request: LaunchRequest): Launch;
  /** How to install it. */
  readonly installHint: string;
}

/** The required properties of a launcher; the others have defaults. */
export type LauncherDefinition = Pick<Launcher, 'engine' | 'program' | 'format' | 'launch'> & Partial<Launcher>;

/**
 * Creates a custom launcher, for the port `launchers` of `startRun`. It defines how an engine is started; `format` is
 * the engine that reads its output, a built-in one or one of the port `engines`. The prompt can be passed through
 * `stdin`, as an argument, or in a file in the run folder.
 *
 * @example
 * const echoLauncher = defineLauncher({
 *   engine: 'echo',
 *   program: 'echo-agent',
 *   format: 'echo',
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
  return completeLauncher(definition);
}

export function completeLauncher(definition: LauncherDefinition): Launcher {
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
