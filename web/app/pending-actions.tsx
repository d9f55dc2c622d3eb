import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { delayedActions, dropAction, sendNow } from '../data/delayed-actions.js';
import type { DelayedAction } from '../data/delayed-actions.js';
import { SafeText } from '../ui/safe-text.js';

/** The pending actions, shown at the edge of every page. Each can be undone until it is sent. */
export function PendingActions() {
  const actions = delayedActions.value;
  const now = useSignal(performance.now());
  useEffect(() => {
    if (actions.length === 0) return;
    const timer = setInterval(() => (now.value = performance.now()), 500);
    return () => clearInterval(timer);
  }, [actions.length === 0]);
  if (actions.length === 0) return null;
  return (
    <div class="pending-actions" role="region" aria-label="Pending actions">
      {actions.map((action) => (
        <PendingAction key={action.id} action={action} now={now.value} />
      ))}
    </div>
  );
}

function PendingAction({ action, now }: { readonly action: DelayedAction; readonly now: number }) {
  const { id, title, state, dueAt, failures } = action;
  if (state === 'sending') {
    return (
      <div class="pending-action" role="status">
        <strong>{title} …</strong>
      </div>
    );
  }
  if (state === 'failed') {
    return (
      <div class="pending-action bad" role="alert">
        <strong>
          {title}: {failures.length} failed
        </strong>
        <span class="clip">
          <SafeText text={[...new Set(failures)].join(' ')} limit={400} />
        </span>
        <button type="button" onClick={() => dropAction(id)}>
          Dismiss
        </button>
      </div>
    );
  }
  const seconds = Math.max(0, Math.ceil((dueAt - now) / 1000));
  return (
    <div class="pending-action">
      <strong role="status">{title}</strong>
      <span class="dim">In {seconds} s</span>
      <button type="button" class="primary" onClick={() => dropAction(id)}>
        Undo
      </button>
      <button type="button" onClick={() => sendNow(id)}>
        Send now
      </button>
    </div>
  );
}
