import type { WorkerRecord } from '../../../src/store/records/index.js';
import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { Badge, labelState } from '../../ui/badge.js';
import { FailureNotice, Loaded, Notice, type Tone } from '../../ui/notice.js';
import { RowTable, type Column } from '../../ui/row-table.js';
import { SafeText } from '../../ui/safe-text.js';
import { Timestamp } from '../../ui/format.js';
import { workers } from '../../data/waiting.js';
import { RunLink } from '../../ui/facts.js';
import { describeFate, nameWorker } from '../now/now-model.js';
import { Meter } from '../now/now-parts.js';
import './workers.css';
import { t } from './texts.js';

const TONES: Readonly<Record<WorkerRecord['state'], Tone>> = { alive: 'good', stopping: 'warn', gone: 'bad' };

const COLUMNS: readonly Column<WorkerRecord>[] = [
  {
    name: t.state,
    width: '7.5rem',
    cell: ({ state }) => <Badge tone={TONES[state]}>{labelState(state)}</Badge>,
  },
  {
    name: t.worker,
    class: 'wide',
    cell: (worker) => (
      <>
        <SafeText text={nameWorker(worker)} limit={100} />
        {worker.state === 'gone' ? <Fate worker={worker} /> : null}
      </>
    ),
  },
  { name: t.load, width: '11rem', cell: ({ busy, capacity }) => <Load busy={busy} capacity={capacity} /> },
  { name: t.version, width: '7rem', class: 'nowrap', cell: ({ version }) => <SafeText text={version} /> },
  { name: t.engines, width: '26%', cell: ({ engines }) => <SafeText text={engines.join(', ')} limit={300} /> },
  { name: t.lastSeen, width: '9.5rem', class: 'nowrap', cell: ({ seen_at }) => <Timestamp at={seen_at} /> },
];

/** The runs of a worker that died, and what happens to them next. */
function Fate({ worker }: Readonly<{ worker: WorkerRecord }>) {
  return (
    <span class="below">
      {worker.runs.length === 0 ? null : (
        <>
          {t.holds}{' '}
          {worker.runs.map((run, index) => (
            <span key={run}>
              {index === 0 ? '' : ', '}
              <RunLink id={run} />
            </span>
          ))}
          {t.endOfRuns}
        </>
      )}
      {describeFate(worker, workers.value ?? [])}
    </span>
  );
}

/** The workers that share the store: their hosts, their engines, and whether they are alive. */
export function WorkersPage() {
  const resource = useResource('workers', async (signal) => client.listWorkers({ signal }), { live: true });
  const { value, failure, reload } = resource;
  return (
    <>
      <div class="page-head">
        <h1>{t.workers}</h1>
      </div>
      {failure === null || value === null ? null : (
        <FailureNotice title={t.cannotLoadTheWorkers} failure={failure} reload={reload} />
      )}
      <Loaded resource={resource} title={t.cannotLoadTheWorkers} space="list">
        {({ items }) => (
          <>
            {items.some(({ state }) => state === 'alive') ? null : (
              <Notice tone="bad" title={t.noWorkerIsRunning}>
                {t.queuedRunsAndOrdersCannot}
                <code>sluice worker</code>
                {t.or} <code>sluice serve</code>
                {t.without}
                <code>--no-worker</code>.
              </Notice>
            )}
            {items.length === 0 ? null : <RowTable columns={COLUMNS} items={items} getKey={({ id }) => id} />}
          </>
        )}
      </Loaded>
    </>
  );
}

function Load({ busy, capacity }: Readonly<{ busy: number; capacity: number }>) {
  return (
    <span class="load">
      <Meter fraction={capacity === 0 ? 0 : busy / capacity} />
      <span class="nowrap">{t.busy(busy, capacity)}</span>
    </span>
  );
}
