import { signal } from '@preact/signals';
import { asFailure } from './resource.js';

/** An action that will be sent in a few seconds, is being sent, or has failed. */
export interface DelayedAction {
  readonly id: number;
  readonly title: string;
  readonly entryIds: readonly string[];
  readonly state: 'waiting' | 'sending' | 'failed';
  /** When it will be sent, on the clock of `performance.now()`. */
  readonly dueAt: number;
  readonly failures: readonly string[];
}

const DELAY_MS = 6000;

/** The unfinished actions, oldest first. They are sent even if the user opens another page. */
export const delayedActions = signal<readonly DelayedAction[]>([]);

const timers = new Map<number, Readonly<{ send: () => void; timer: ReturnType<typeof setTimeout> }>>();
let lastId = 0;

/** Sends an action part by part, unless it is undone within a few seconds: a delivered comment cannot be deleted. */
export function delayAction({
  title,
  parts,
  onDone,
}: {
  readonly title: string;
  readonly parts: readonly Readonly<{ id: string; send: () => Promise<unknown> }>[];
  readonly onDone: () => void;
}): void {
  lastId += 1;
  const id = lastId;
  const send = async (): Promise<void> => {
    clearTimer(id);
    change(id, { state: 'sending' });
    const failures: string[] = [];
    for (const part of parts) {
      try {
        await part.send();
      } catch (error) {
        failures.push(asFailure(error).message);
      }
    }
    if (failures.length === 0) remove(id);
    else change(id, { state: 'failed', failures });
    onDone();
  };
  const timer = setTimeout(() => void send(), DELAY_MS);
  timers.set(id, { send: () => void send(), timer });
  const entryIds = parts.map((part) => part.id);
  const dueAt = performance.now() + DELAY_MS;
  setActions([...delayedActions.value, { id, title, entryIds, state: 'waiting', dueAt, failures: [] }]);
}

/** Undoes an unsent action, or removes a failed one. */
export function dropAction(id: number): void {
  clearTimer(id);
  remove(id);
}

/** Sends an action immediately. */
export function sendNow(id: number): void {
  timers.get(id)?.send();
}

function clearTimer(id: number): void {
  clearTimeout(timers.get(id)?.timer);
  timers.delete(id);
}

function change(id: number, changes: Partial<DelayedAction>): void {
  setActions(delayedActions.value.map((action) => (action.id === id ? { ...action, ...changes } : action)));
}

function remove(id: number): void {
  setActions(delayedActions.value.filter((action) => action.id !== id));
}

function setActions(actions: readonly DelayedAction[]): void {
  delayedActions.value = actions;
  if (actions.some(({ state }) => state !== 'failed')) addEventListener('beforeunload', confirmLeaving);
  else removeEventListener('beforeunload', confirmLeaving);
}

/** Makes the browser ask before it closes the tab, which could not send the remaining actions. */
function confirmLeaving(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
