import { useSignal } from '@preact/signals';
import type { SinkState } from '../../../src/records/index.js';
import { hasScope } from '../../app/session.js';
import { client } from '../../server/client.js';
import { asFailure } from '../../server/use-resource.js';
import { formatCount } from '../../ui/amount.js';
import { Notice } from '../../ui/notice.js';
import { SafeText } from '../../ui/safe-text.js';

/** A notice for each failing sink, with its last error and a button that redelivers its comments. */
export function FailingSinks({ sinks }: { readonly sinks: readonly SinkState[] }) {
  const failingSinks = sinks.filter(({ state }) => state !== 'waiting');
  return (
    <>
      {failingSinks.map((sink) => (
        <FailingSink key={sink.name} sink={sink} />
      ))}
    </>
  );
}

function FailingSink({ sink }: { readonly sink: SinkState }) {
  const { name, state, open, dead, last_error: error } = sink;
  const refusal = useSignal<string | null>(null);
  const redeliver = async (): Promise<void> => {
    try {
      await client.redeliverSink({ body: { sink: name } });
      refusal.value = null;
    } catch (reason) {
      refusal.value = asFailure(reason).message;
    }
  };
  const undelivered = `${formatCount(open + dead)} ${open + dead === 1 ? 'comment' : 'comments'}`;
  return (
    <Notice
      tone="warn"
      title={`${name}: ${undelivered} not delivered${state === 'broken' ? `, ${dead} failed` : ''}`}
      {...(hasScope('decide') ? { action: { label: `Redeliver to ${name}`, run: redeliver } } : {})}
    >
      <SafeText text={refusal.value ?? error ?? ''} limit={300} />
    </Notice>
  );
}
