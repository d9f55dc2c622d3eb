import type { DrainResult, RunFailureCause, Verdict } from '../../events/index.js';
import { explainStop, type Stop } from '../attempts/run-control.js';
import type { EngineFailure } from '../result/run-findings.js';
import type { ProcessExit } from '../process/spawn-process.js';
import { describePlacementFailure, type PlacementFailure } from '../sandbox/index.js';
import type { JudgedOutput } from './judge-output.js';

export interface VerdictFacts {
  readonly stop: Stop | null;
  readonly judged: JudgedOutput | null;
  readonly drained: DrainResult;
  readonly end: ProcessExit;
  /** Whether output that fails the contract may be retried. */
  readonly canRetry: boolean;
  /** The engine's last error, if it did not recover from it. */
  readonly engineFailure: EngineFailure | null;
  /** Whether the process was stopped because its permission request was not answered in time. */
  readonly isHeld: boolean;
  /** Why the place of the process failed, if it did. */
  readonly placementFailure?: PlacementFailure | undefined;
}

/**
 * Determines an attempt's verdict. A stop by Sluice takes precedence. Output that fails the contract is retried only if
 * the engine reported no error, because a retry would not fix an error.
 */
export function decideVerdict(facts: VerdictFacts): {
  readonly verdict?: Verdict;
  readonly reason?: string;
  readonly cause?: RunFailureCause;
} {
  const { placementFailure: failed } = facts;
  const { stop, judged, drained, end, canRetry, engineFailure, isHeld } = facts;
  if (stop !== null) {
    const isStuck = stop.verdict === 'engine_failed' && engineFailure !== null;
    return { ...explainStop(stop, engineFailure), ...(isStuck ? { cause: engineFailure.cause } : {}) };
  }
  if (failed !== undefined)
    return { verdict: 'placement_failed', reason: describePlacementFailure(failed), cause: failed.cause };
  if (isHeld) return { verdict: 'held' };
  if (judged === null) return {};
  switch (judged.verdict) {
    case 'no_contract':
    case 'validated':
      return { verdict: judged.verdict };
    case 'comment':
      if (!canRetry || !hasSucceeded(end, drained)) return { verdict: 'comment' };
      return { verdict: 'retry', reason: `The output has no value: ${judged.error.message}.` };
    case 'not_validated': {
      const isRetried = canRetry && hasSucceeded(end, drained) && judged.error !== undefined;
      return { verdict: isRetried ? 'retry' : 'not_validated', reason: judged.reason };
    }
  }
}

/** Whether both the process and the engine finished without an error. */
export function hasSucceeded(
  end: ProcessExit,
  { runtimeError, endSignal }: Pick<DrainResult, 'runtimeError' | 'endSignal'>,
): boolean {
  // Sluice stops a conversation's process after the turn, so its exit code is meaningless.
  const isOver = end.exitCode === null && end.signal === null && endSignal !== null;
  return (end.exitCode === 0 || isOver) && runtimeError === null;
}

/** Whether the agent is asking a question: it ended its turn without the done marker. */
export function isAsking(
  mode: 'auto' | 'interactive',
  { doneMarker, endSignal }: Pick<DrainResult, 'doneMarker' | 'endSignal'>,
): boolean {
  return mode === 'interactive' && endSignal !== null && !doneMarker;
}
