import { signal } from '@preact/signals';
import { asFailure } from './use-resource.js';

/** Something that is sent in a few seconds, is being sent, or could not be sent. */
export interface DelayedAction {
  readonly id: number;
  /** `Rejecting 3 results`. */
  readonly title: string;
  /** The entry it is about, by id. */
  readonly about: readonly string[];
  readonly state: 'waiting' | 'sending' | 'failed';
  /** When it is sent, by the clock of the page. */
  readonly dueAt: number;
  /** Why parts of it failed. */
  readonly failures: readonly string[];
}

/** Time to undo. */
const DELAY_MS = 6000;

/** Actions that are not over, in the order they were asked for. They outlive the page they were asked for on. */
export const delayedActions = signal<readonly DelayedAction[]>([]);

const timers = new Map<number, { readonly send: () => void; readonly timer: ReturnType<typeof setTimeout> }>();
let lastId = 0;

/**
 * Does something after a few seconds, one part after the other, unless it is undone before: a comment that was written
 * cannot be taken back.
 */
export function delayAction({
  title,
  parts,
  onDone,
}: {
  readonly title: string;
  readonly parts: readonly { readonly id: string; readonly send: () => Promise<unknown> }[];
  readonly onDone: () => void;
}): void {
  lastId += 1;
  const id = lastId;
  const send = async (): Promise<void> => {
    forgetTimer(id);
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
  const about = parts.map((part) => part.id);
  const dueAt = performance.now() + DELAY_MS;
  delayedActions.value = [...delayedActions.value, { id, title, about, state: 'waiting', dueAt, failures: [] }];
  if (timers.size === 1) addEventListener('beforeunload', warn);
}

/** Undoes what is not sent yet, or forgets what failed. */
export function dropAction(id: number): void {
  forgetTimer(id);
  remove(id);
}

/** Sends it without waiting longer. */
export function sendNow(id: number): void {
  timers.get(id)?.send();
}

function forgetTimer(id: number): void {
  clearTimeout(timers.get(id)?.timer);
  timers.delete(id);
  if (timers.size === 0) removeEventListener('beforeunload', warn);
}

function change(id: number, changes: Partial<DelayedAction>): void {
  delayedActions.value = delayedActions.value.map((one) => (one.id === id ? { ...one, ...changes } : one));
}

function remove(id: number): void {
  delayedActions.value = delayedActions.value.filter((one) => one.id !== id);
}

/** A tab that is closed sends nothing: the browser asks first. */
function warn(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
