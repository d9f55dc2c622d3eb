import type { RunSummary } from '../../../src/api/index.js';
import { toPath } from '../../app/route.js';
import { client } from '../../server/client.js';
import { readQuestion } from '../../server/read-question.js';
import { useResource } from '../../server/use-resource.js';
import { waiting } from '../../server/waiting.js';
import { InlineFailure } from '../../ui/notice.js';
import { SafeText } from '../../ui/safe-text.js';
import { formatWait } from '../../ui/time.js';
import { ReplyForm } from '../run/reply-box.js';

/** More than these are in the list of runs. */
const MOST = 10;

/** Questions of agents, first of all: their runs stand still. Each is answered where it is shown. */
export function Questions({ isFolded }: { readonly isFolded: boolean }) {
  const runs = waiting.value?.questions ?? [];
  if (runs.length === 0) return null;
  const title = runs.length === 1 ? '1 question' : `${runs.length} questions`;
  if (isFolded) {
    return (
      <p class="questions-folded">
        <a href="/inbox">{title} to answer</a>
      </p>
    );
  }
  return (
    <section class="questions" aria-label="Questions">
      <h2>{title}</h2>
      <ul class="stack">
        {runs.slice(0, MOST).map((run) => (
          <li key={run.id}>
            <Question run={run} />
          </li>
        ))}
      </ul>
      {runs.length > MOST ? <a href="/runs?state=waiting">All questions</a> : null}
    </section>
  );
}

function Question({ run }: { readonly run: RunSummary }) {
  const question = useResource(`question ${run.id}`, async (signal) => readQuestion(client, run.id, signal));
  const { value, failure, reload } = question;
  return (
    <article class="card question" aria-label={`Question of run ${run.id}`}>
      <div class="stack">
        <p class="row">
          <strong>{run.engine}</strong>
          <a href={toPath({ page: 'run', id: run.id })}>Open the run</a>
          <span class="dim">started {formatWait(Date.now() - Date.parse(run.created_at))} ago</span>
        </p>
        <div class="question-text">
          {value === null ? (
            <span class="dim">{failure === null ? 'Loading the question …' : ''}</span>
          ) : (
            <SafeText text={value.prompt} limit={2000} />
          )}
        </div>
        <p class="dim clip">
          Task: <SafeText text={run.spec.prompt ?? run.id} limit={300} />
        </p>
      </div>
      {failure === null ? null : <InlineFailure failure={failure} reload={reload} />}
      {value === null ? null : <ReplyForm key={value.interactionId} id={run.id} question={value} onStale={reload} />}
    </article>
  );
}
