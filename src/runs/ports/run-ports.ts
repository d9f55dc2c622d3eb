import type { RunInputs } from './run-inputs.js';
import { createFileResultCache } from '../cache/result-caches.js';
import type { ApprovalRule, Decision, RunEngine, RunResult, RunSpec, RunWarning } from '../../store/records/index.js';
import { createUlidGenerator, silentLogger, type Logger, findFirstIndex, setLatest } from '../../base/index.js';
import { chooseDataFolder, findDataFolder as findDefaultFolder } from '../../base/files/index.js';
import type { FolderLock } from '../workspace/folder-lock.js';
import {
  type Engine,
  type FcmpEvent,
  comparePositions,
  getPosition,
  type Emitted,
  type LogPosition,
} from '../../events/index.js';
import type { AgentSettings } from '../launchers/acp.js';
import type { Launcher } from '../launchers/launcher.js';
import {
  type EventLog,
  type ResultCache,
  readEventRange,
  type EventQuery,
  type WatchableEventLog,
} from '../../store/ports/index.js';
import type { ContainerSettings, SandboxFolders } from '../sandbox/index.js';

/** A saved session, or why the run cannot be saved. */
export type SavedSession = { readonly bytes: Uint8Array } | { readonly reason: string };

/** The dependencies and settings of a run. Everything has a default. */
export interface RunPorts {
  /** The folder for runs, cached results and records of processes; `SLUICE_DATA` or the project's by default. */
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
  /** Custom engines, made with `defineEngine`: a launcher or a spec names them with `format`. */
  readonly engines?: readonly Engine[];
  /** Images and files in the first prompt, and MCP servers for the agent. */
  readonly inputs?: Partial<RunInputs>;
  /** Rules for `permissions: ask`, which precede the spec's own. */
  readonly approvals?: readonly ApprovalRule[];
  /** Sandbox settings for specs without their own, and additional folders to mount. */
  readonly sandbox?: SandboxPort;
  /** Patterns of secrets to mask, besides the values of sensitive environment variables. */
  readonly secrets?: { readonly patterns?: readonly string[] };
  /** The lock on the working folder, if the caller holds it; the run releases it. */
  readonly folderLock?: FolderLock;
  /** Whether the run waits while another one uses its folder (default), instead of failing. */
  readonly waitsForFolder?: boolean;
  /** Called with a message when the run starts to wait for its folder. */
  readonly onWaiting?: (message: string) => void;
  /** Called immediately with each warning that is known before the run ends: a limit that has no effect, an untested version. */
  readonly onWarning?: (warning: RunWarning) => void;
  /** Called before a question is published, because a reader can answer immediately. */
  readonly onQuestion?: () => Promise<void>;
  /** Called when a permission request is not answered in time; the run continues with a denial. */
  readonly onUnanswered?: () => Promise<void>;
  /** Called after `hold_s` without an answer; `collect` reads what another host needs. Must not reject. */
  readonly onHeld?: (collect: () => Promise<SavedSession>) => Promise<void>;
  /** The session that `onHeld` has collected on another host: it is restored before the run is resumed. */
  readonly savedSession?: {
    readonly bytes: Uint8Array;
    /** Whether the working folder belongs to this run alone, so changed files may be replaced there. */
    readonly ownsFolder: boolean;
  };
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
export type ResolvedPorts = ReturnType<typeof resolvePorts>;

const newUlid = createUlidGenerator();

export function resolvePorts(ports: RunPorts) {
  const logger = ports.logger ?? silentLogger;
  const data = chooseDataFolder(ports.data);
  // Without its type, the declarations of the package would need those of Node.js.
  const environment: NonNullable<RunPorts['environment']> = ports.environment ?? process.env;
  return {
    data,
    /** Null if the run folder's files are the event log. */
    eventLog: ports.eventLog ?? null,
    cache: ports.cache ?? createFileResultCache(data),
    clock: ports.clock ?? Date.now,
    newId: ports.newId ?? newUlid,
    logger,
    environment,
    programs: ports.programs ?? {},
    agents: ports.agents ?? {},
    launchers: ports.launchers ?? [],
    engines: ports.engines ?? [],
    inputs: { attachments: [], mcpServers: [], ...ports.inputs } satisfies RunInputs,
    approvals: ports.approvals ?? [],
    sandbox: { ...ports.sandbox, use: ports.sandbox?.use ?? readSandboxUse() },
    secretPatterns: ports.secrets?.patterns ?? [],
    folderLock: ports.folderLock,
    waitsForFolder: ports.waitsForFolder ?? true,
    onWaiting: ports.onWaiting ?? (() => undefined),
    onWarning: ports.onWarning ?? (() => undefined),
    onQuestion: ports.onQuestion ?? (async () => undefined),
    onUnanswered: ports.onUnanswered ?? (async () => undefined),
    onHeld: ports.onHeld ?? (async () => undefined),
    savedSession: ports.savedSession,
    budget: ports.budget ?? { limitsCost: false, spend: async () => undefined },
    slot: ports.slot ?? { release: () => undefined, acquire: async () => undefined },
    ending: ports.ending ?? new AbortController().signal,
  };
}

/** Creates spans for runs and orders; `src/server/tracing` implements it for OpenTelemetry. Its methods never throw. */
export interface RunTracer {
  /** Starts a run's span; its parent is `spec.traceparent`. */
  startRun(run: { readonly id: string; readonly spec: RunSpec }): RunTrace;
  /** Starts an order's span, which is the parent of its run's span. */
  startOrder(order: TracedOrder): OrderTrace;
}

/** A run's spans. */
export interface RunTrace {
  /** The agent's `TRACEPARENT`, which makes its own spans part of the same trace; undefined if nothing is recorded. */
  readonly traceparent: string | undefined;
  /** Called with every FCMP event, in order. */
  onEvent(event: FcmpEvent): void;
  end(result: RunResult): void;
}

/** An order's traced fields. */
export interface TracedOrder {
  readonly issue_ref: string;
  readonly run_id: string;
  /** The run that carries it. */
  readonly run: string;
  readonly worker: string;
  readonly traceparent: string | undefined;
}

/** An order's span. */
export interface OrderTrace {
  readonly traceparent: string | undefined;
  /** Ends the span; without a decision if another process continues the order. */
  end(decision: Decision | undefined): void;
}

/** Sandbox settings for runs whose spec has none. */
export interface SandboxPort extends SandboxFolders {
  /** `auto` by default. `required` cannot be lowered by a spec. */
  readonly use?: NonNullable<RunSpec['sandbox']>;
  /** The path of bubblewrap; by default `bwrap` in PATH. */
  readonly program?: string;
  /**
   * The folders whose files the arguments of a spec's `command` may name: other files are not mounted. Without it, every
   * file that they name is mounted, because the caller is trusted.
   */
  readonly roots?: readonly string[];
  /** Arguments from the configuration; the files they name are mounted wherever they are. */
  readonly configured?: readonly string[];
  /** Files and folders that are never mounted and hidden inside mounted folders, besides the data folder. */
  readonly hidden?: readonly string[];
  /** The loaded configuration, which is never mounted either; without tokens, it is visible in a working folder. */
  readonly configuration?: { readonly file: string; readonly hasTokens: boolean };
  /** The engine of containers and their default image, for `placement: container`. */
  readonly container?: ContainerSettings;
  /** The socket of the container that agents run in, if this process is a worker in a pod. */
  readonly sidecar?: string;
  /** The setting that adds files for a script which lacks them; `sandbox.read` by default. */
  readonly mountsSetting?: string;
}

/** The operator's setting for all runs. An unknown value, such as a typo, counts as `required`. */
function readSandboxUse(): NonNullable<SandboxPort['use']> {
  const use = process.env['SLUICE_SANDBOX'];
  if (use === undefined || use === '' || use === 'auto') return 'auto';
  return use === 'off' ? 'off' : 'required';
}

/**
 * Returns the default data folder for library calls: `SLUICE_DATA`, or else the data folder of the project in the
 * current folder. Declared here because the declarations of `base/files` need the types of Node.js, which a user of
 * this package might not have.
 *
 * @example
 * findDataFolder() // '/home/ada/.local/share/sluice/projects/shop-1f0c9a3b5d7e2468'
 */
export function findDataFolder(cwd?: string, env?: Readonly<Record<string, string | undefined>>): string {
  return findDefaultFolder(cwd, env);
}

/** Maximum stored runs; the oldest is dropped first. */
const MAX_MEMORY_RUNS = 256;

type RunEvents = Record<EventQuery['protocol'], Emitted[]>;

/**
 * Creates an event log that keeps the events of recent runs in memory, for tests and for programs that need no history.
 *
 * @example
 * const run = startRun(spec, { eventLog: createMemoryEventLog() })
 */
export function createMemoryEventLog(options: { readonly runs?: number } = {}): WatchableEventLog {
  const { runs = MAX_MEMORY_RUNS } = options;
  const logs = new Map<string, RunEvents>();
  const watchers = new Map<string, Set<() => void>>();

  return {
    async append(runId, events) {
      const log = logs.get(runId) ?? { rasp: [], fcmp: [] };
      if (!logs.has(runId)) setLatest(logs, runs, runId, log);
      for (const emitted of events) {
        const storedEvents = log[emitted.protocol];
        const last = storedEvents.at(-1);
        if (last === undefined || comparePositions(getPosition(last), getPosition(emitted)) < 0)
          storedEvents.push(emitted);
      }
      for (const wake of watchers.get(runId) ?? []) wake();
    },
    async read(query) {
      const { after, to, limit } = readEventRange(query);
      const storedEvents = logs.get(query.runId)?.[query.protocol] ?? [];
      const findFirstAfter = (position: LogPosition) =>
        findFirstIndex(storedEvents, (emitted) => comparePositions(getPosition(emitted), position) > 0);
      const from = findFirstAfter(after);
      return storedEvents.slice(from, Math.min(from + limit, findFirstAfter(to)));
    },
    watch(runId, wake) {
      const waiting = watchers.get(runId) ?? new Set();
      watchers.set(runId, waiting.add(wake));
      return () => {
        waiting.delete(wake);
        if (waiting.size === 0) watchers.delete(runId);
      };
    },
  };
}
