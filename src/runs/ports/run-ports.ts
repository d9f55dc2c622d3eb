import { createFileResultCache } from '../cache/file-result-cache.js';
import type { ApprovalRule, RunEngine, RunWarning } from '../../records/index.js';
import { createUlidGenerator, silentLogger } from '../../base/index.js';
import type { Logger } from '../../base/index.js';
import { chooseDataFolder } from '../../files/index.js';
import type { FolderLock } from '../workspace/folder-lock.js';
import type { Engine } from '../../events/index.js';
import type { AgentSettings } from '../launchers/acp.js';
import type { RunTracer } from './run-tracer.js';
import { readSandboxUse } from './sandbox-port.js';
import type { SandboxPort } from './sandbox-port.js';
import type { Launcher } from '../launchers/launcher.js';
import type { EventLog } from './event-log.js';
import type { RunInputs } from './run-inputs.js';
import { createFileEventLog } from './file-event-log.js';
import type { ResultCache } from '../cache/result-cache.js';

/** The dependencies and settings of a run. Everything has a default. */
export interface RunPorts {
  /**
   * The folder for run folders, cached results, and records of running processes; by default `SLUICE_DATA`, or else the
   * folder of this project in the user's data directory.
   */
  readonly data?: string;
  /** The log that stores events before they are published; by default the files in the run folder. */
  readonly eventLog?: EventLog;
  /** Results of earlier runs, for specs with `cache`; by default files in the data folder. */
  readonly cache?: ResultCache;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
  /** The id of the run, also the name of its folder; by default a ULID. */
  readonly newId?: () => string;
  readonly logger?: Logger;
  /** The source of environment variables; by default this process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The path of an engine's executable, or a command with arguments; by default it is looked up in PATH. */
  readonly programs?: Readonly<Partial<Record<RunEngine, string | readonly string[]>>>;
  /** Agents besides the built-in engines, by the name that specs use. */
  readonly agents?: Readonly<Record<string, AgentSettings>>;
  /** Custom launchers, made with `defineLauncher`. */
  readonly launchers?: readonly Launcher[];
  /** Custom engines, made with `defineEngine`: a launcher or a spec names them with `reads`. */
  readonly engines?: readonly Engine[];
  /** Images and files in the first prompt, and MCP servers for the agent. */
  readonly inputs?: Partial<RunInputs>;
  /** Rules for `permissions: ask`, which precede the spec's own. */
  readonly approvals?: readonly ApprovalRule[];
  /** Sandbox settings for specs without their own, and additional folders to mount. */
  readonly sandbox?: SandboxPort;
  /** Patterns of secrets to mask, besides the values of sensitive environment variables. */
  readonly secrets?: { readonly patterns?: readonly string[] };
  /**
   * The lock on the working folder, if the caller already holds it; the run releases it. By default the run waits for
   * the lock.
   */
  readonly folderLock?: FolderLock;
  /** Called immediately with each warning that is known before the run ends: a limit that has no effect, an untested version. */
  readonly onWarning?: (warning: RunWarning) => void;
  /**
   * Called before a question is published (`user.input.required`, `permission.required`), because a reader can answer
   * immediately.
   */
  readonly onQuestion?: () => Promise<void>;
  /** Called when a permission request is not answered in time; the run continues with a denial. */
  readonly onUnanswered?: () => Promise<void>;
  /**
   * The run's slot, if concurrency is limited: released while the run waits for an answer without a process, and
   * acquired before a process is launched again. Unlimited by default.
   */
  readonly slot?: RunSlot;
  /** Creates tracing spans for the run; none by default. */
  readonly tracer?: RunTracer;
  /** Budgets shared by many runs: usage is reported as it grows, until a budget is used up. None by default. */
  readonly budget?: RunBudget;
  /** Aborted when this process must exit: the run stops waiting for an unavailable event log. */
  readonly ending?: AbortSignal;
}

/** See {@link RunPorts.slot}. */
export interface RunSlot {
  release(): void;
  acquire(): Promise<void>;
}

/** See {@link RunPorts.budget}. */
export interface RunBudget {
  /** Whether cost is limited: an engine that does not report it is then limited by tokens alone. */
  readonly limitsCost: boolean;
  /** Reports the run's usage so far, across all attempts. Resolves with the reason to stop the run, if any. */
  spend(used: { readonly tokens: number; readonly cost: number }): Promise<string | undefined>;
}

/** A run's ports, with defaults applied. */
export interface ResolvedPorts extends Omit<Required<RunPorts>, 'secrets' | 'folderLock' | 'tracer' | 'inputs'> {
  readonly inputs: RunInputs;
  readonly folderLock: FolderLock | undefined;
  readonly secretPatterns: readonly string[];
  /** Null if the run folder's files are the event log. */
  readonly separateLog: EventLog | null;
}

const newUlid = createUlidGenerator();

export function resolvePorts(ports: RunPorts): ResolvedPorts {
  const logger = ports.logger ?? silentLogger;
  const data = chooseDataFolder(ports.data, (warning) => logger.warn(warning));
  const eventLog = ports.eventLog ?? createFileEventLog(data);
  return {
    data,
    eventLog,
    separateLog: eventLog.dataFolder === data ? null : eventLog,
    cache: ports.cache ?? createFileResultCache(data),
    clock: ports.clock ?? Date.now,
    newId: ports.newId ?? newUlid,
    logger,
    environment: ports.environment ?? process.env,
    programs: ports.programs ?? {},
    agents: ports.agents ?? {},
    launchers: ports.launchers ?? [],
    engines: ports.engines ?? [],
    inputs: { attachments: [], mcpServers: [], ...ports.inputs },
    approvals: ports.approvals ?? [],
    sandbox: { ...ports.sandbox, use: ports.sandbox?.use ?? readSandboxUse() },
    secretPatterns: ports.secrets?.patterns ?? [],
    folderLock: ports.folderLock,
    onWarning: ports.onWarning ?? (() => undefined),
    onQuestion: ports.onQuestion ?? (async () => undefined),
    onUnanswered: ports.onUnanswered ?? (async () => undefined),
    budget: ports.budget ?? { limitsCost: false, spend: async () => undefined },
    slot: ports.slot ?? { release: () => undefined, acquire: async () => undefined },
    ending: ports.ending ?? new AbortController().signal,
  };
}
