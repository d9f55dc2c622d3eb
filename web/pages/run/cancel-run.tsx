import { useSignal } from '@preact/signals';
import type { RunView } from '../../../src/api/index.js';
import { may } from '../../app/session.js';
import { client } from '../../server/client.js';
import { asFailure } from '../../server/use-resource.js';

/** Ends a run, after asking whether that is meant. */
export function CancelRun({ run, onChange }: { readonly run: RunView; readonly onChange: () => void }) {
  const isAsked = useSignal(false);
  const refusal = useSignal<string | null>(null);
  if (run.state === 'ended' || !may('run')) return null;
  if (run.cancel_requested) return <span class="dim">asked to end …</span>;
  const cancel = async (): Promise<void> => {
    try {
      await client.cancelRun({ id: run.id });
      refusal.value = null;
      isAsked.value = false;
    } catch (error) {
      refusal.value = asFailure(error).message;
    }
    onChange();
  };
  if (!isAsked.value) {
    return (
      <button type="button" onClick={() => (isAsked.value = true)}>
        Cancel run
      </button>
    );
  }
  return (
    <span class="row" role="group" aria-label="Cancel the run">
      <span>{refusal.value ?? 'The run ends as canceled.'}</span>
      <button type="button" class="danger" onClick={() => void cancel()}>
        Stop it
      </button>
      <button type="button" onClick={() => (isAsked.value = false)}>
        Keep it
      </button>
    </span>
  );
}
