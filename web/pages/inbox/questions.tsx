import { useRef } from 'preact/hooks';
import type { RunSummary } from '../../../src/api/index.js';
import { toPath } from '../../app/route.js';
import { client } from '../../server/client.js';
import { readQuestion } from '../../server/read-question.js';
import type { OpenQuestion } from '../../server/read-question.js';
import { useResource } from '../../server/use-resource.js';
import { waiting } from '../../server/waiting.js';
import { Markdown } from '../../ui/markdown.js';
import { SafeText } from '../../ui/safe-text.js';
import { formatWait } from '../../ui/time.js';
import { ReplyForm } from '../run/reply-box.js';

/** More than these are in the list of runs. */
const MOST = 10;

/** A waiting run and its question; null if it was answered meanwhile. */
interface Asked {
  readonly run: RunSummary;
  readonly question: OpenQuestion | null;
}

/** The open questions. Null until all of them are known, so that nothing shifts when they appear. */
export function useQuestions(): { readonly asked: readonly Asked[] | null; readonly reload: () => void } {
  const runs = (waiting.value?.questions ?? []).slice(0, MOST);
  const key = waiting.value === null ? '' : ['known', ...runs.map(({ id }) => id)].join(' ');
  const { value, reload } = useResource(`questions ${key}`, async (signal): Promise<readonly Asked[] | null> => {
    if (key === '') return null;
    return Promise.all(
      runs.map(async (run) => ({ run, question: await readQuestion(client, run.id, signal).catch(() => null) })),
    );
  });
  // The last known ones stay while those of another set of runs are loaded.
  const last = useRef<readonly Asked[] | null>(null);
  last.current = value ?? last.current;
  return { asked: last.current, reload };
}

/** Questions of agents, first of all: their runs stand still. Each is answered where it is shown. */
export function Questions({ asked, reload }: { readonly asked: readonly Asked[]; readonly reload: () => void }) {
  const total = waiting.value?.questions.length ?? asked.length;
  if (asked.length === 0) return null;
  const title = total === 1 ? '1 question' : `${total} questions`;
  return (
    <section class="questions" aria-label="Questions">
      <h2>{title}</h2>
      <ul class="stack">
        {asked.map(({ run, question }) => (
          <li key={run.id}>
            <Question run={run} question={question} reload={reload} />
          </li>
        ))}
      </ul>
      {total > MOST ? <a href="/runs?state=waiting">All questions</a> : null}
    </section>
  );
}

function Question({ run, question, reload }: Asked & { readonly reload: () => void }) {
  return (
    <article class="card question" aria-label={`Question of run ${run.id}`}>
      <div class="stack">
        <p class="row">
          <strong>{run.engine}</strong>
          <a href={toPath({ page: 'run', id: run.id })}>Open the run</a>
          <span class="dim">started {formatWait(Date.now() - Date.parse(run.created_at))} ago</span>
        </p>
        <div class="question-text">
          {question === null ? (
            <span class="dim">The question cannot be shown here. Open the run to answer it.</span>
          ) : (
            <Markdown text={question.prompt} />
          )}
        </div>
        <p class="dim clip">
          Task: <SafeText text={run.spec.prompt ?? run.id} limit={300} />
        </p>
      </div>
      {question === null ? null : (
        <ReplyForm key={question.interactionId} id={run.id} question={question} onStale={reload} />
      )}
    </article>
  );
}
