import { useSignal } from '@preact/signals';
import type { InboxItemView } from '../../../src/api/shapes/order.js';
import { isSluiceError } from '../../../src/json/index.js';
import { pathOf } from '../../app/route.js';
import { client } from '../../server/client.js';
import { useResource } from '../../server/use-resource.js';
import { SafeText } from '../../ui/safe-text.js';

/** More of a stream than this is looked at on the page of its run. */
const MOST_BYTES = 64 * 1024;

/** What the worker printed, as it came. */
export function RawFiles({ item }: { readonly item: InboxItemView }) {
  return (
    <section class="card stack">
      <div class="row">
        <h2>Raw files</h2>
        <a class="end" href={pathOf({ page: 'run', id: item.run })}>
          Everything the run did
        </a>
      </div>
      <Stream run={item.run} stream="stdout" />
      <Stream run={item.run} stream="stderr" />
    </section>
  );
}

function Stream({ run, stream }: { readonly run: string; readonly stream: 'stdout' | 'stderr' }) {
  const isOpen = useSignal(false);
  return (
    <details onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>{stream}</summary>
      {isOpen.value ? <Text run={run} stream={stream} /> : null}
    </details>
  );
}

function Text({ run, stream }: { readonly run: string; readonly stream: 'stdout' | 'stderr' }) {
  const text = useResource(`raw ${run} ${stream}`, async (signal) => readStart(run, stream, signal));
  if (text.failure !== null) {
    return (
      <p class="wrong">
        {text.failure.message}{' '}
        <button type="button" class="link" onClick={text.reload}>
          Try again
        </button>
      </p>
    );
  }
  if (text.value === null) return <p class="dim">Loading …</p>;
  if (text.value === '') return <p class="dim">Nothing was written there.</p>;
  return (
    <pre>
      <SafeText text={text.value} />
    </pre>
  );
}

async function readStart(id: string, stream: 'stdout' | 'stderr', signal: AbortSignal): Promise<string> {
  try {
    const bytes = await client.readRaw({ id, attempt: 1, stream, from: 0, to: MOST_BYTES, signal });
    return new TextDecoder().decode(bytes);
  } catch (error) {
    // An empty stream has no range, and one that was never written has no file.
    if (isSluiceError(error) && (error.code === 'INVALID_RANGE' || error.code === 'RAW_NOT_FOUND')) return '';
    throw error;
  }
}
