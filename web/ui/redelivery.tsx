import { signal } from '@preact/signals';
import { hasScope } from '../app/session.js';
import { client } from '../data/client.js';
import { useAction } from '../data/resource.js';
import { loadWaiting } from '../data/waiting.js';
import { Button } from './parts.js';
import { formatCount, SafeText } from './text.js';
import { t } from '../app/texts.js';

/** The redeliveries that were requested on this page: how many comments each sink had queued. */
export const redeliveries = signal<ReadonlyMap<string, number>>(new Map());

/** Redelivers a sink's comments. Every page then shows how many of them are delivered. */
export async function redeliver(sink: string): Promise<void> {
  const { redelivered } = await client.redeliverSink({ body: { sink } });
  redeliveries.value = new Map([...redeliveries.value, [sink, redelivered]]);
  await loadWaiting();
}

type SinkCounts = Readonly<{ open: number; dead: number; error: string | null }>;

/** Describes how far a redelivery is; `sink` has the counts of now, and is undefined if nothing is undelivered. */
export function describeRedelivery(queued: number, sink: SinkCounts | undefined): string {
  const { open, dead, error } = sink ?? { open: 0, dead: 0, error: null };
  if (queued === 0) return t.nothingToRedeliver;
  const delivered = Math.max(0, queued - open - dead);
  if (open + dead === 0) return t.allDelivered(formatCount(queued));
  if (delivered === 0 && dead === 0) return t.queuedFirstRetryNow(formatCount(queued));
  const parts = [t.ofDelivered(formatCount(delivered), formatCount(queued))];
  if (open > 0) parts.push(t.toGo(formatCount(open)));
  if (dead > 0) parts.push(t.someFailed(formatCount(dead), error));
  return parts.join(', ');
}

/** A button that redelivers a sink's comments, and how far that is. */
export function Redelivery(props: Readonly<{ name: string; sink: SinkCounts | undefined; label?: string }>) {
  const { name, sink, label = t.redeliverTo(name) } = props;
  const redelivery = useAction(async () => redeliver(name));
  const queued = redeliveries.value.get(name);
  return (
    <span class="row">
      {hasScope('decide') ? (
        <Button label={label} class="primary" disabled={redelivery.isBusy} onClick={redelivery.run} />
      ) : null}
      <span role="status">
        {redelivery.failure === null ? (
          <SafeText text={queued === undefined ? '' : describeRedelivery(queued, sink)} limit={300} />
        ) : (
          <span class="wrong">{redelivery.failure}</span>
        )}
      </span>
    </span>
  );
}
