import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { delayedActions, dropAction, sendNow, type DelayedAction } from '../data/delayed-actions.js';
import { SafeText } from '../ui/safe-text.js';
import { Button } from '../ui/button.js';

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

function PendingAction({ action, now }: Readonly<{ action: DelayedAction; now: number }>) {
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
        <SafeText as="span" class="clip" text={[...new Set(failures)].join(' ')} limit={400} />
        <Button label="Dismiss" onClick={() => dropAction(id)} />
      </div>
    );
  }
  const seconds = Math.max(0, Math.ceil((dueAt - now) / 1000));
  return (
    <div class="pending-action">
      <strong role="status">{title}</strong>
      <span class="dim">In {seconds} s</span>
      <Button label="Undo" class="primary" onClick={() => dropAction(id)} />
      <Button label="Send now" onClick={() => sendNow(id)} />
    </div>
  );
}
