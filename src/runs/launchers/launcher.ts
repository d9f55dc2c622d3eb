import type { EngineName } from '../../events/index.js';
import type { RunEngine, RunSpec } from '../../records/index.js';

/**
 * What an agent may do. `safe`: read, nothing else. `workspace`: also edit the working folder and the run folder.
 * `bypass`: everything, unasked; only for a machine that is itself a cage.
 */
export type Permissions = NonNullable<RunSpec['permissions']>;

/** What is to be started. Folders are absolute and without links: agents compare them with resolved paths. */
export interface LaunchRequest {
  /** What the agent is asked; may be empty for `command` only. */
  readonly prompt: string;
  readonly workdir: string;
  readonly runDir: string;
  readonly permissions: Permissions;
  readonly model?: string;
  /** The session to go on with, as the engine named it. */
  readonly sessionId?: string;
  /** The program and its arguments, for engine `command`. */
  readonly command?: readonly string[];
  /** The program gets a terminal, which would echo its input: the prompt goes as an argument. */
  readonly terminal?: boolean;
}

/** How a process is started for it. */
export interface Launch {
  /** The program and its arguments; never a line for a shell. */
  readonly command: readonly [string, ...string[]];
  readonly stdin?: string;
  /** Fixed additions to the environment; they win over what the agent would inherit. */
  readonly env: Readonly<Record<string, string>>;
  /** Settings to be written before the start; all of them in the run folder. */
  readonly files?: readonly LaunchFile[];
}

/** A file an engine reads its settings from. */
export interface LaunchFile {
  readonly path: string;
  readonly text: string;
}

/** Knows how to start one engine, and nothing about reading it. */
export interface Launcher {
  readonly engine: RunEngine;
  /** The name of its program on the path; empty for `command`, which brings its own. */
  readonly program: string;
  /** The reader of `events` that understands it. */
  readonly reads: EngineName;
  /** The versions this was proven with: `>=0.166.0 <0.167.0`; empty if none could be. */
  readonly drives: string;
  /** Names of environment variables it may need, beside the base every process gets; `OPENAI_*` is a pattern. */
  readonly environment: readonly string[];
  readonly canResume: boolean;
  /** Whether its output has the cost of a run: without it `limits.cost` cannot end one. */
  readonly reportsCost: boolean;
  /** The arguments that make it tell its version. */
  readonly versionCommand: readonly string[];
  /** Finds the version in what it printed then. */
  readVersion(text: string): string | undefined;
  /** Looks at the folders before the start; rejects with a typed error where the permissions could not be kept. */
  inspect?(request: LaunchRequest): Promise<void>;
  /** Throws a typed error for a request it cannot carry out. */
  launch(request: LaunchRequest): Launch;
  /** What a person does to get it. */
  readonly installHint: string;
}
