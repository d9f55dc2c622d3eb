import { effect, signal } from '@preact/signals';
import type { WaitingEntry } from '../../src/server/api/index.js';
import { getServerTime } from './client.js';
import { asFailure } from './resource.js';
import { t } from '../app/texts.js';
import type { Client } from '../../src/server/client/index.js';
import type { FcmpEvent } from '../../src/events/index.js';

/** A grant or a decision that will be sent in a few seconds, is being sent, or was not sent. */
export interface DelayedAction {
  readonly id: number;
  readonly title: string;
  readonly parts: readonly DelayedPart[];
  readonly state: 'waiting' | 'sending' | 'failed';
  /** When it will be sent, in milliseconds since 1970, on this browser's clock. */
  readonly dueAt: number;
  readonly failures: readonly Readonly<{ id: string; message: string }>[];
}

export interface DelayedPart {
  /** The id of the waiting entry that it answers. */
  readonly id: string;
  /** The entry, to show what happened to it after it has left the list. */
  readonly entry?: WaitingEntry | undefined;
  readonly send: () => Promise<unknown>;
  /** Asks the server why the request must not be sent any more; null if it may be. */
  readonly findObstacle?: () => Promise<string | null>;
}

const DELAY_MS = 6000;
/** The time that sending takes: a delay that ends with the wait would be too late. */
const SENDING_MS = 1500;
/** An action that is due for longer belongs to a page that was suspended, and its user is no longer there. */
const MAX_LATE_MS = 10_000;

/** The unfinished actions, oldest first. They are sent even if the user opens another page. */
export const delayedActions = signal<readonly DelayedAction[]>([]);

/** The last action on a waiting entry; it is pending until it was sent, or was not. */
export function findDelayed(entryId: string): Readonly<{ action: DelayedAction | undefined; isPending: boolean }> {
  const action = delayedActions.value.findLast(({ parts }) => parts.some(({ id }) => id === entryId));
  return { action, isPending: action !== undefined && action.state !== 'failed' };
}

/** The ids of the waiting entries that have an action, even one that failed. */
export function listDelayedIds(): readonly string[] {
  return delayedActions.value.flatMap(({ parts }) => parts.map(({ id }) => id));
}

const pending = new Map<number, Readonly<{ send: () => void; stop: () => void }>>();
let lastId = 0;

/** Returns the delay, which ends early enough for the first deadline that is still ahead. Times in milliseconds. */
export function computeDelay(endsAt: readonly number[], now: number): number {
  const left = endsAt.filter((end) => end > now).map((end) => end - now - SENDING_MS);
  return Math.max(0, Math.min(DELAY_MS, ...left));
}

/** Sends an action part by part, unless it is withdrawn, the page is closed, or a part has an obstacle: it cannot be undone. */
export function delayAction(input: {
  readonly title: string;
  readonly parts: readonly DelayedPart[];
  /** When the agent stops waiting, in the server's time. */
  readonly endsAt?: readonly number[];
  /** Sends it without a delay, for actions that stop something. */
  readonly isImmediate?: boolean;
  /** Whether the entry still waits, as far as the page knows; reads signals. If not, the obstacle is looked up at once. */
  readonly isListed?: () => boolean;
  readonly onDone: () => void;
}): void {
  const { title, parts, endsAt = [], isImmediate = false, isListed = () => true, onDone } = input;
  lastId += 1;
  const id = lastId;
  const delayMs = isImmediate ? 0 : computeDelay(endsAt, getServerTime());
  const dueAt = Date.now() + delayMs;
  const finish = (failures: DelayedAction['failures']): void => {
    if (failures.length === 0) remove(id);
    else change(id, { state: 'failed', failures });
    onDone();
  };
  const send = async (): Promise<void> => {
    stop(id);
    if (Date.now() > dueAt + MAX_LATE_MS)
      return finish(parts.map((part) => ({ id: part.id, message: t.nothingWasSentThisPage })));
    change(id, { state: 'sending' });
    const failures: { id: string; message: string }[] = [];
    for (const part of parts) {
      try {
        const obstacle = (await part.findObstacle?.()) ?? null;
        if (obstacle === null) await part.send();
        else failures.push({ id: part.id, message: obstacle });
      } catch (error) {
        failures.push({ id: part.id, message: asFailure(error).message });
      }
    }
    finish(failures);
  };
  /** Ends an action whose entry has left the list, if the server knows why. */
  const check = async (): Promise<void> => {
    const messages = await Promise.all(parts.map(async (part) => (await part.findObstacle?.()) ?? null));
    if (!pending.has(id) || messages.includes(null)) return;
    stop(id);
    finish(parts.map((part, index) => ({ id: part.id, message: messages[index] ?? '' })));
  };
  setActions([...delayedActions.value, { id, title, parts, state: 'waiting', dueAt, failures: [] }]);
  const timer = setTimeout(() => void send(), delayMs);
  const stopWatching = effect(() => {
    // A failed look-up is repeated before the action is sent.
    if (!isListed()) void check().catch(() => undefined);
  });
  pending.set(id, {
    send: () => void send(),
    stop: () => {
      clearTimeout(timer);
      stopWatching();
    },
  });
}

/** Withdraws an unsent action, or removes a failed one. */
export function dropAction(id: number): void {
  stop(id);
  remove(id);
}

export function sendNow(id: number): void {
  pending.get(id)?.send();
}

function stop(id: number): void {
  pending.get(id)?.stop();
  pending.delete(id);
}

function change(id: number, changes: Partial<DelayedAction>): void {
  setActions(delayedActions.value.map((action) => (action.id === id ? { ...action, ...changes } : action)));
}

function remove(id: number): void {
  setActions(delayedActions.value.filter((action) => action.id !== id));
}

function setActions(actions: readonly DelayedAction[]): void {
  delayedActions.value = actions;
  if (actions.some(({ state }) => state !== 'failed')) {
    addEventListener('beforeunload', confirmLeaving);
    addEventListener('pagehide', dropUnsent);
  } else {
    removeEventListener('beforeunload', confirmLeaving);
    removeEventListener('pagehide', dropUnsent);
  }
}

/** Makes the browser ask before it closes the tab, which sends nothing. */
function confirmLeaving(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/** Browsers keep a page that was left, and continue its timers if the user goes back to it. */
function dropUnsent(): void {
  for (const { id, state } of delayedActions.value) if (state === 'waiting') dropAction(id);
}

/** Reads the events after a permission request: why an answer must not be sent any more, or null. */
export async function findAnswerObstacle(
  client: Pick<Client, 'readHistory'>,
  { run, interactionId, seq }: Readonly<{ run: string; interactionId: string; seq: number }>,
): Promise<string | null> {
  let attempt: number | undefined;
  for (let from: string | null = String(seq); from !== null;) {
    const page = await client.readHistory({ id: run, query: { protocol: 'fcmp', from } });
    // Safe cast: the server is part of the same package.
    const events = page.events as readonly FcmpEvent[];
    attempt ??= events[0]?.meta.attempt;
    const obstacle = describeObstacle(events, interactionId, attempt ?? 0);
    if (obstacle !== null) return t.nothingWasSent(obstacle);
    from = page.next_from;
  }
  return null;
}

function describeObstacle(events: readonly FcmpEvent[], interactionId: string, attempt: number): string | null {
  for (const event of events) {
    if (event.type === 'permission.replied' && event.data.interaction_id === interactionId) {
      const { by, decision, who = t.anotherUser, why } = event.data;
      if (by === 'person') return decision === 'allow' ? t.allowedMeanwhile(who) : t.deniedMeanwhile(who);
      return t.withdrawnMeanwhile(why?.replace(/\.?$/, '.'));
    }
    const isOver = event.type === 'conversation.completed' || event.type === 'conversation.failed';
    if (isOver) return t.theRunHasEndedMeanwhile;
    if (event.meta.attempt > attempt) return t.theAgentNoLongerWaits;
  }
  return null;
}

/** Reads an inbox item: why a decision about it must not be sent any more, or null. */
export async function findDecisionObstacle(client: Pick<Client, 'getInboxItem'>, id: string): Promise<string | null> {
  const { resolution } = await client.getInboxItem({ id });
  if (resolution === null) return null;
  const { who, action } = resolution;
  return t.nothingWasSent(t.settledMeanwhile(who, action));
}
