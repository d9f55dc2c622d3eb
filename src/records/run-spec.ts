import type { Normalizer, Profile, StandardSchema } from '../json/index.js';
import type { RunEngine } from './run-engine.js';

/** What is to be run, and what counts as its result. */
export interface RunSpec {
  readonly engine: RunEngine;
  /** What the agent is asked; for `command` it goes to the program's input. */
  readonly prompt?: string;
  /** The program and its arguments, for engine `command` only. */
  readonly command?: readonly string[];
  /** The folder it works in; one run at a time. */
  readonly workdir: string;
  /** Without a contract success is a clean end. */
  readonly contract?: RunContract;
  /** `auto` (default): the verdict on the output decides. `interactive`: the agent may ask. */
  readonly mode?: 'auto' | 'interactive';
  /** `safe` (default): may only read. `workspace`: may also edit the working folder. `bypass`: everything, unasked. */
  readonly permissions?: 'safe' | 'workspace' | 'bypass';
  readonly limits?: RunLimits;
  /** Names of environment variables handed on; `OPENAI_*` is a pattern. */
  readonly env?: readonly string[];
  /** Files the result depends on, relative to the working folder. Caching needs them, or an explicit empty list. */
  readonly input_files?: readonly string[];
  /** `true` reads and keeps, `refresh` only keeps. */
  readonly cache?: boolean | 'refresh';
  /** How often a failed contract is sent back with what was wrong; 0 by default. */
  readonly max_retries?: number;
  readonly model?: string;
  /** Captures through a terminal instead of pipes. */
  readonly terminal?: boolean;
}

/** What the output must be. */
export interface RunContract {
  /** JSON Schema, or in process any Standard Schema. */
  readonly schema?: StandardSchema | Readonly<Record<string, unknown>>;
  readonly profile?: Profile;
  readonly allow_partial?: boolean;
  readonly align?: boolean;
  /** In process only. */
  readonly normalizers?: readonly Normalizer[];
}

/** What ends a run that goes too far. */
export interface RunLimits {
  /** Of work, all attempts together. */
  readonly time_s?: number;
  /** Without a byte for this long. */
  readonly idle_s?: number;
  /** For a person to answer what an agent has asked; meanwhile the other two clocks stand still. */
  readonly wait_s?: number;
  readonly output_bytes?: number;
  readonly line_bytes?: number;
  readonly tokens?: number;
  /** US dollars, as the engine reports them. */
  readonly cost?: number;
}
