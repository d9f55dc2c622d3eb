import { pathOf } from '../../app/route.js';
import { client } from '../../server/client.js';
import { useResource } from '../../server/use-resource.js';
import { SafeText } from '../../ui/safe-text.js';
import { waitOf } from './wait-of.js';

/** More than these are found in the list of runs. */
const MOST = 10;

/** Runs whose agent has asked something: they too wait for a person, and are answered on their own page. */
export function AskingRuns() {
  const runs = useResource(
    'asking',
    async (signal) => client.listRuns({ query: { state: 'waiting', limit: MOST }, signal }),
    { live: true },
  );
  const { items = [], next_cursor: next = null } = runs.value ?? {};
  if (items.length === 0) return null;
  return (
    <section class="asking" aria-label="Runs that ask">
      <h2>Runs that ask</h2>
      <ul class="inbox-rows">
        {items.map((run) => (
          <li key={run.id}>
            <a href={pathOf({ page: 'run', id: run.id })}>
              <span class="row">
                <strong>{run.engine}</strong>
                <span class="dim end">began {waitOf(Date.now() - Date.parse(run.created_at))} ago</span>
              </span>
              <span class="clip">
                <SafeText text={run.spec.prompt ?? run.id} limit={300} />
              </span>
            </a>
          </li>
        ))}
      </ul>
      {next === null ? null : <a href="/runs?state=waiting">All of them</a>}
    </section>
  );
}
