import type { DriftSummary, FcmpEvent, FsDiff } from '../../events/index.js';
import type { JudgedOutput } from '../judge/judge-output.js';
import type { RunProcess, RunWarning } from '../../records/index.js';

/** How an attempt ended. */
export interface AttemptOutcome {
  /** The attempt's last FCMP event: it says how the run stands. */
  readonly last: FcmpEvent;
  /** Null where there was nothing to judge: the attempt was stopped, or the agent asks. */
  readonly judged: JudgedOutput | null;
  readonly fsDiff: FsDiff;
  readonly warnings: readonly RunWarning[];
  /** What was met that no reader knows; null if everything was. */
  readonly drift: DriftSummary | null;
  /** The agent's last words. */
  readonly message: string | undefined;
  /** Absent where no process was started. */
  readonly process?: RunProcess;
}
