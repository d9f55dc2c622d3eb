import type { Drained, Verdict } from '../../events/index.js';
import { explainStop } from '../attempts/run-control.js';
import type { Stop } from '../attempts/run-control.js';
import type { EngineTrouble } from '../result/run-findings.js';
import type { ProcessEnd } from '../process/spawn-process.js';
import type { JudgedOutput } from './judge-output.js';

/** All that decides the verdict. */
export interface VerdictGrounds {
  readonly stop: Stop | null;
  readonly judged: JudgedOutput | null;
  readonly drained: Drained;
  readonly end: ProcessEnd;
  /** Whether an output that fails the contract may be sent back. */
  readonly mayRetry: boolean;
  /** The engine's last error, if it did not recover from it. */
  readonly trouble: EngineTrouble | null;
  /** Whether the process was ended because its question was not answered. */
  readonly isHeld: boolean;
}

/**
 * The verdict on an attempt. Sluice's own stop comes first. An output that fails the contract is sent back only if the
 * engine had no error: asking again does not repair a broken process.
 */
export function decideVerdict(grounds: VerdictGrounds): {
  readonly verdict?: Verdict;
  readonly reason?: string;
} {
  const { stop, judged, drained, end, mayRetry, trouble, isHeld } = grounds;
  if (stop !== null) return explainStop(stop, trouble);
  if (isHeld) return { verdict: 'held' };
  if (judged === null) return {};
  switch (judged.verdict) {
    case 'no_contract':
    case 'validated':
      return { verdict: judged.verdict };
    case 'comment':
      if (!mayRetry || !isSound(end, drained)) return { verdict: 'comment' };
      return { verdict: 'retry', reason: `The output has no value: ${judged.error.message}.` };
    case 'not_validated': {
      const isRetried = mayRetry && isSound(end, drained) && judged.error !== undefined;
      return { verdict: isRetried ? 'retry' : 'not_validated', reason: judged.reason };
    }
  }
}

/** Whether process and engine ended without an error. */
export function isSound(
  end: ProcessEnd,
  { runtimeError, endSignal }: Pick<Drained, 'runtimeError' | 'endSignal'>,
): boolean {
  // Sluice ends the process of a conversation after the turn: its exit has no meaning.
  const isOver = end.exitCode === null && end.signal === null && endSignal !== null;
  return (end.exitCode === 0 || isOver) && runtimeError === null;
}

/** Whether the agent has asked: it ended its turn and did not say that it has finished. */
export function isAsking(
  mode: 'auto' | 'interactive',
  { doneMarker, endSignal }: Pick<Drained, 'doneMarker' | 'endSignal'>,
): boolean {
  return mode === 'interactive' && endSignal !== null && !doneMarker;
}
