import type { WritableRunFolder, StreamDigest } from '../run-folder/index.js';
import type { StandardSchema } from '../../json/index.js';
import type { RunJournal } from '../capture/run-journal.js';
import type { Launcher } from '../launchers/launcher.js';
import type { ResolvedPorts } from '../ports/run-ports.js';
import type { ResolvedLimits } from '../spec/check-run-spec.js';
import type { RunDrift, RunSandbox, RunSpec, RunWarning } from '../../store/records/index.js';
import { NO_CHANGES, type RunFindings } from '../result/run-findings.js';
import type { OutputChunk } from '../process/output-queue.js';
import type { RunControl, Stopwatch } from './run-control.js';
import { NO_TAIL, UsageTotals, isRasp, sumUsage } from '../../events/index.js';
import type { AttemptTail, Emitted, FsDiff, Usage } from '../../events/index.js';

export interface RunContext {
  readonly id: string;
  readonly spec: RunSpec;
  readonly schema: StandardSchema | undefined;
  readonly limits: ResolvedLimits;
  readonly ports: ResolvedPorts;
  readonly launcher: Launcher;
  readonly control: RunControl;
  readonly stopwatch: Stopwatch;
  readonly usage: RunUsage;
  readonly findings: RunFindings;
  readonly warnings: Map<RunWarning['code'], RunWarning>;
  readonly journal: RunJournal;
  readonly folder: WritableRunFolder;
  /** Absolute and without links, because agents compare paths. */
  readonly runDir: string;
  readonly progress: RunProgress;
}

/** Adds a warning to the result, and reports it immediately. */
export function warn({ id, ports, warnings }: RunContext, warning: RunWarning): void {
  if (warnings.has(warning.code)) return;
  warnings.set(warning.code, warning);
  ports.logger.warn(warning.message, { run_id: id, code: warning.code });
  ports.onWarning(warning);
}

export class RunProgress {
  attempts = 0;
  /** The last published events. */
  tail: AttemptTail = NO_TAIL;
  printedBytes = 0;
  replies = 0;
  /** The last session id that the engine printed. */
  sessionId: string | null = null;
  text: string | undefined;
  /** Output printed between two attempts; the next attempt records it. */
  leftover: readonly OutputChunk[] = [];
  readonly captured: StreamDigest[] = [];
  artifacts: FsDiff = NO_CHANGES;
  drift: RunDrift | undefined;
  retries = 0;
  /** Whether the last process was sandboxed; undefined if there was no process, or no sandbox was requested. */
  sandbox: RunSandbox | undefined;
}

/** Collects tokens, cost, diagnostics, denied tools and the model from events. */
export function addFindings({ usage, findings }: Pick<RunContext, 'usage' | 'findings'>, events: readonly Emitted[]) {
  findings.add(events);
  for (const { protocol, event } of events) {
    if (protocol !== 'rasp' || !isRasp(event, 'lifecycle.run.status')) continue;
    if (event.data.usage !== undefined) usage.add(event.data.usage);
  }
}

/** Returns the run's mode; `auto` by default. */
export function getRunMode({ spec }: Pick<RunContext, 'spec'>): 'auto' | 'interactive' {
  return spec.mode ?? 'auto';
}

/** Adds up the usage of all attempts: engines report session totals, of one attempt or more. */
export class RunUsage {
  #before: Usage | null = null;
  #session = new UsageTotals();

  /** Call this if the next attempt starts a new session, whose totals do not include earlier ones. */
  startSession(): void {
    this.#before = this.total;
    this.#session = new UsageTotals();
  }

  add(usage: Usage): void {
    this.#session.add(usage);
  }

  /** Usage so far; null if the engine has not reported any. */
  get total(): Usage | null {
    const current = this.#session.total;
    if (this.#before === null || current === null) return current ?? this.#before;
    return sumUsage(this.#before, current);
  }

  get tokens(): number {
    const { total } = this;
    return total === null ? 0 : (total.total_tokens ?? total.input_tokens + total.output_tokens);
  }

  get cost(): number {
    return this.total?.cost ?? 0;
  }
}
