import type { EngineName } from '../../events/index.js';
import type { RunSpec } from '../../records/index.js';
import type { StateFolder } from '../../sandbox/index.js';
import type { Attachment, AcceptedInputs, McpServer } from '../ports/run-inputs.js';

/**
 * Permissions of an agent. `safe`: read only. `workspace`: also edit the working folder and the run folder. `bypass`:
 * everything, without asking; only in a sandbox. `ask` is not among them: it is `safe` for an agent that asks.
 */
export type Permissions = Exclude<NonNullable<RunSpec['permissions']>, 'ask'>;

/** The process to launch. Folders are absolute and without links: agents compare them with resolved paths. */
export interface LaunchRequest {
  /** The prompt; may be empty for `command` only. */
  readonly prompt: string;
  readonly workdir: string;
  readonly runDir: string;
  readonly permissions: Permissions;
  /** The agent requests what `permissions` does not allow. */
  readonly asks?: boolean;
  /** The program is started in its two-way mode, if it has one: it may ask, or gets further prompts. */
  readonly converses?: boolean;
  readonly model?: string;
  /** The session to resume, as the engine named it. */
  readonly sessionId?: string;
  /** The program and its arguments, for engine `command`. */
  readonly command?: readonly string[];
  /** The program gets a terminal, which would echo its input: the prompt goes as an argument. */
  readonly terminal?: boolean;
  /** Images and files that go with the prompt; only kinds that the launcher accepts. */
  readonly attachments?: readonly Attachment[];
  /** Servers that the agent may use besides its own; only types that the launcher accepts. */
  readonly mcpServers?: readonly McpServer[];
}

/** The command of the process. */
export interface Launch {
  /** The program and its arguments; never a line for a shell. */
  readonly command: readonly [string, ...string[]];
  readonly stdin?: string;
  /** The program is two-way: it gets messages over its streams instead of one input. */
  readonly converse?: ConversationRequest;
  /** Fixed additions to the environment; they win over what the agent would inherit. */
  readonly env: Readonly<Record<string, string>>;
  /** Settings to be written before the start; all of them in the run folder. */
  readonly files?: readonly LaunchFile[];
}

/** The protocol of a two-way program. */
export interface ConversationRequest {
  readonly prompt: string;
  /** The protocol: `acp` (default), the stream-json of `claude` or `qwen`, or `codex app-server`. */
  readonly speaks?: 'acp' | 'claude' | 'qwen' | 'app-server';
  /** Settings of the thread, for `app-server`. */
  readonly thread?: Readonly<Record<string, string>>;
  /** The authentication method to use, if the agent offers it. */
  readonly authenticate?: string;
  /** Attachments of the first prompt. */
  readonly attachments?: readonly Attachment[];
  /** Servers that are named when the session is opened, for `acp`. */
  readonly mcpServers?: readonly McpServer[];
}

/** A file an engine reads its settings from. */
export interface LaunchFile {
  readonly path: string;
  readonly text: string;
}

/** Launches one engine; `events` reads its output. */
export interface Launcher {
  readonly engine: string;
  /** The name of its program on the path; empty for `command`, which names its own. */
  readonly program: string;
  /** The reader of `events` that understands it. */
  readonly reads: EngineName | (string & {});
  /** The versions this was tested with: `>=0.166.0 <0.167.0`; empty if none could be. */
  readonly drives: string;
  /** Names of environment variables it may need, besides the base every process gets; `OPENAI_*` is a pattern. */
  readonly environment: readonly string[];
  readonly canResume: boolean;
  /** Whether it has a two-way mode, in which it can ask for permissions. */
  readonly canAsk?: true;
  /** Inputs it accepts besides text; absent if none. An agent that speaks ACP reports this itself when it is started. */
  readonly accepts?: AcceptedInputs;
  /** Whether its output has the cost of a run: without it `limits.cost` cannot end one. */
  readonly reportsCost: boolean;
  /** The arguments that make it print its version. */
  readonly versionCommand: readonly string[];
  /** Finds the version in what it printed then. */
  readVersion(text: string): string | undefined;
  /** Checks the folders before the launch; rejects with a typed error where the permissions could not be enforced. */
  inspect?(request: LaunchRequest): Promise<void>;
  /** Where it keeps its login and sessions; in a sandbox nothing else of the home is shown. */
  keepsState?(env: Readonly<Record<string, string>>): readonly StateFolder[];
  /** Added to the environment inside a sandbox. */
  readonly sandboxEnvironment?: Readonly<Record<string, string>>;
  /** Throws a typed error for a request it cannot launch. */
  launch(request: LaunchRequest): Launch;
  /** How to install it. */
  readonly installHint: string;
}
