import { toPath } from '../app/route.js';
import { Moment } from './time.js';

/** Why a queued run does not start. A newer server may have reasons that this page does not know. */
interface Waiting {
  readonly reason: string;
  /** The run that has the folder; null if a process outside the store has it. */
  readonly run?: string | null;
  /** `day`, or `caller NAME`. */
  readonly budget?: string;
  /** When the budget resets, at the latest. */
  readonly opens_at?: string;
}

/** Why a queued run does not start, as a line. */
export function WaitingFor({ waiting }: { readonly waiting: Waiting | null }) {
  if (waiting === null) return null;
  const { run = null, opens_at: opensAt } = waiting;
  return (
    <span class="waiting-for">
      {describeReason(waiting)}
      {run === null ? null : (
        <>
          , in use by <a href={toPath({ page: 'run', id: run })}>{run}</a>
        </>
      )}
      {opensAt === undefined ? null : (
        <>
          , which resets at <Moment at={opensAt} />
        </>
      )}
    </span>
  );
}

/** Describes the reason why a run waits. */
export function describeReason({ reason, budget = 'day' }: Waiting): string {
  switch (reason) {
    case 'folder':
      return 'Waiting for its folder';
    case 'budget':
      return budget === 'day' ? 'Waiting for the daily budget' : `Waiting for the budget of ${budget}`;
    default:
      return `Waiting for: ${reason}`;
  }
}
