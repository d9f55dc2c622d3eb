import type { RunView } from '../../src/api/index.js';
import { toPath } from '../app/route.js';
import { SafeText } from './safe-text.js';
import { Moment } from './time.js';

/** What a queued run waits for, with a link to the run that is in its way. */
export function WaitingFor({ waiting }: { readonly waiting: NonNullable<RunView['waiting_for']> }) {
  if (waiting.reason === 'budget') {
    return (
      <>
        the budget of the <SafeText text={waiting.budget} limit={80} />, which starts again{' '}
        <Moment at={waiting.opens_at} />
      </>
    );
  }
  if (waiting.run === null) return <>its folder</>;
  return (
    <>
      its folder, in use by <a href={toPath({ page: 'run', id: waiting.run })}>{waiting.run}</a>
    </>
  );
}
