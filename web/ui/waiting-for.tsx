import { toPath } from '../app/route.js';
import { Timestamp } from './format.js';
import { t } from '../app/texts.js';

/** Why a queued run does not start. A newer server might send reasons that this page does not support. */
interface Waiting {
  readonly reason: string;
  /** The run that uses the folder; null if a process outside the store uses it. */
  readonly run?: string | null;
  readonly started_at?: string;
  /** `day`, or `caller NAME`. */
  readonly budget?: string;
  readonly opens_at?: string;
}

/** Explains in one line why a queued run does not start. */
export function WaitingFor({ waiting }: Readonly<{ waiting: Waiting | null }>) {
  if (waiting === null) return null;
  const { run = null, started_at: startedAt, opens_at: opensAt } = waiting;
  return (
    <span class="waiting-for">
      {describeReason(waiting)}
      {run === null ? null : (
        <>
          {t.inUseBy} <a href={toPath({ page: 'run', id: run })}>{run}</a>
          {startedAt === undefined ? null : (
            <>
              {' '}
              ({t.startedAt} <Timestamp at={startedAt} />)
            </>
          )}
        </>
      )}
      {opensAt === undefined ? null : (
        <>
          {t.whichResetsAt} <Timestamp at={opensAt} />
        </>
      )}
    </span>
  );
}

/** Describes why a run is waiting. */
export function describeReason({ reason, budget = 'day' }: Waiting): string {
  if (reason === 'folder') return t.waitingForItsFolder;
  return reason === 'budget' ? t.waitingForThe(describeBudget(budget)) : t.waitingFor(reason);
}

/** Describes a budget by its wire name. */
export function describeBudget(name: string): string {
  const caller = /^caller (.*)$/su.exec(name)?.[1];
  if (caller !== undefined) return t.budgetOfToken(caller);
  return name === 'day' ? t.dailyBudget : t.budgetOf(name);
}
