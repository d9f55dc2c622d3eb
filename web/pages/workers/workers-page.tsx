import { useRef } from 'preact/hooks';
import type { WorkerRecord } from '../../../src/records/index.js';
import { client } from '../../server/client.js';
import { useResource } from '../../server/use-resource.js';
import { BudgetPanel } from './budget-panel.js';
import { Meter } from './meter.js';
import { Badge, labelState } from '../../ui/badge.js';
import { FailureNotice, Loading, Notice } from '../../ui/notice.js';
import type { Tone } from '../../ui/notice.js';
import { RowTable } from '../../ui/row-table.js';
import type { Column } from '../../ui/row-table.js';
import { SafeText } from '../../ui/safe-text.js';
import { Timestamp } from '../../ui/time.js';
import './workers.css';

const COLUMNS: readonly Column[] = [
  { name: 'State', width: '7.5rem' },
  { name: 'Host' },
  { name: 'Load', width: '11rem' },
  { name: 'Version', width: '7rem' },
  { name: 'Engines', width: '34%' },
  { name: 'Last seen', width: '9.5rem' },
];

const TONES: Readonly<Record<WorkerRecord['state'], Tone>> = { alive: 'good', stopping: 'warn', gone: 'bad' };

/** The workers that share the store: their hosts, their engines, and whether they are alive. */
export function WorkersPage() {
  const { value, failure, reload } = useResource('workers', async (signal) => client.listWorkers({ signal }), {
    live: true,
  });
  return (
    <>
      <div class="page-head">
        <h1>Workers</h1>
      </div>
      {failure === null ? null : <FailureNotice title="Cannot load the workers" failure={failure} reload={reload} />}
      {value === null ? failure === null ? <Loading space="list" /> : null : <WorkerList workers={value.items} />}
      <BudgetPanel />
    </>
  );
}

function WorkerList({ workers }: { readonly workers: readonly WorkerRecord[] }) {
  const list = useRef<HTMLTableElement>(null);
  const hasAlive = workers.some(({ state }) => state === 'alive');
  return (
    <>
      {hasAlive ? null : (
        <Notice tone="bad" title="No worker is running">
          Queued runs and orders cannot start. Start a worker with <code>sluice worker</code>, or{' '}
          <code>sluice serve</code> without <code>--no-worker</code>.
        </Notice>
      )}
      {workers.length === 0 ? null : (
        <RowTable columns={COLUMNS} list={list}>
          {workers.map((worker) => (
            <tr key={worker.id}>
              <td>
                <Badge tone={TONES[worker.state]}>{labelState(worker.state)}</Badge>
              </td>
              <td class="wide">
                <SafeText text={worker.host} />
                <span class="below">{worker.id}</span>
              </td>
              <td>
                <Load busy={worker.busy} capacity={worker.capacity} />
              </td>
              <td class="nowrap">
                <SafeText text={worker.version} />
              </td>
              <td>
                <SafeText text={worker.engines.join(', ')} limit={300} />
              </td>
              <td class="nowrap">
                <Timestamp at={worker.seen_at} />
              </td>
            </tr>
          ))}
        </RowTable>
      )}
    </>
  );
}

/** A worker's used slots, as a bar and as numbers. */
function Load({ busy, capacity }: { readonly busy: number; readonly capacity: number }) {
  return (
    <span class="load">
      <Meter fraction={capacity === 0 ? 0 : busy / capacity} />
      <span class="nowrap">
        {busy} of {capacity}
      </span>
    </span>
  );
}
