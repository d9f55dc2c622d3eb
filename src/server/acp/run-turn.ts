import { createUlidGenerator, getErrorMessage } from '../../base/index.js';
import { createAcpProjection, toAcpPermission } from '../../events/index.js';
import type { AcpUpdate, FcmpEvent, AcpPermission } from '../../events/index.js';
import { runInProcess, type WorkContext } from '../../orders/dispatch/index.js';
import type { Store } from '../../store/index.js';
import { encodeReply, type RunResult, type RunSpec } from '../../store/records/index.js';
import type { Run, RunInputs } from '../../runs/index.js';
import type { RunStore } from '../../store/ports/index.js';

export interface TurnClient extends Pick<RelayOptions, 'ask' | 'who'> {
  /** Sends an update; resolves when the client has room for more. */
  update(update: AcpUpdate): Promise<void>;
}

interface Turn {
  readonly id: string;
  /** Its position in the session, from 1. */
  readonly number: number;
  readonly spec: RunSpec;
  readonly inputs: RunInputs;
  /** Called when the run is in the store and has started. */
  readonly onStart: () => void;
}

/** Executes a prompt as a run and sends its updates to the client as they happen. */
export async function runTurn(context: WorkContext<Store>, turn: Turn, client: TurnClient): Promise<RunResult> {
  const { id, number, spec, inputs, onStart } = turn;
  const { store } = context;
  const relay = new PermissionRelay({ store, runId: id, who: client.who, ask: prefixToolCallId(client.ask, number) });
  let followed: Promise<void> | undefined;
  try {
    const result = await runInProcess(context, {
      id,
      spec,
      inputs,
      onRun: (run) => {
        followed = follow(run, number, client, relay);
        onStart();
      },
    });
    await followed;
    return result;
  } finally {
    relay.end();
  }
}

export const createId = createUlidGenerator();

async function follow(run: Run, number: number, client: TurnClient, relay: PermissionRelay): Promise<void> {
  const translate = createTurnUpdates(number);
  try {
    for await (const { protocol, event } of run.events) {
      if (protocol !== 'fcmp') continue;
      for (const update of translate(event)) await client.update(update);
      // After the updates, so the client has already received a permission request's tool call.
      relay.onEvent(event);
    }
  } catch {
    // Either the client has disconnected, which ends the run, or the log is broken, which the result reports.
    relay.end();
  }
}

/** Events that are not sent: permissions are requested separately, and raw output is in the run folder. */
const OMITTED_TYPES: ReadonlySet<FcmpEvent['type']> = new Set([
  'raw.stdout',
  'raw.stderr',
  'permission.required',
  'permission.replied',
]);

/**
 * Translates the events of one turn. From the second turn on, ids get a prefix, because engines restart their numbering
 * in each run.
 */
export function createTurnUpdates(number: number): (event: FcmpEvent) => AcpUpdate[] {
  const projection = createAcpProjection();
  return (event) => {
    if (OMITTED_TYPES.has(event.type)) return [];
    // The client wrote the prompt; those of sub-agents are news.
    if (event.type === 'user.message' && event.data.parent_tool_call_id === undefined) return [];
    return projection.push(event).map(({ update }) => {
      if ('toolCallId' in update) return { ...update, toolCallId: prefixId(update.toolCallId, number) };
      return 'messageId' in update ? { ...update, messageId: prefixId(update.messageId, number) } : update;
    });
  };
}

function prefixId(id: string, number: number): string {
  return number === 1 ? id : `t${number}/${id}`;
}

function prefixToolCallId(ask: RelayOptions['ask'], number: number): RelayOptions['ask'] {
  return async ({ toolCall, options }, signal) =>
    ask({ toolCall: { ...toolCall, toolCallId: prefixId(toolCall.toolCallId, number) }, options }, signal);
}

/** The client's answer: one of the options, or `cancelled` if the turn was canceled. */
type PermissionOutcome = { readonly optionId: string } | 'cancelled';

/** An answer that the store does not accept yet is posted again after this time, even if no request was closed. */
const RETRY_MS = 500;

interface RelayOptions {
  readonly store: Pick<RunStore, 'findRun' | 'postReply'>;
  readonly runId: string;
  /** The name of the user who answers, for the record. */
  readonly who: string;
  /** Asks the client; the signal is aborted when the answer is no longer needed. */
  ask(permission: AcpPermission, signal: AbortSignal): Promise<PermissionOutcome>;
}

/**
 * Passes a run's permission requests to the client, and its answers to the store, which also receives answers from the
 * console. The first answer counts.
 */
export class PermissionRelay {
  readonly #options: RelayOptions;
  readonly #open = new Map<string, AbortController>();
  /** Wakes answers that wait until the run has read the previous one: the store accepts only one at a time. */
  readonly #waiting = new Set<() => void>();

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  /** Must be called with each of the run's events. */
  onEvent(event: FcmpEvent): void {
    if (event.type === 'permission.required') void this.#ask(event);
    else if (event.type === 'permission.replied') this.#close(event.data.interaction_id);
  }

  /** Withdraws all open requests; called when the run has ended. */
  end(): void {
    for (const id of this.#open.keys()) this.#close(id);
  }

  #close(id: string): void {
    this.#open.get(id)?.abort();
    this.#open.delete(id);
    for (const wake of this.#waiting) wake();
  }

  async #ask(event: FcmpEvent<'permission.required'>): Promise<void> {
    const { interaction_id: id, options } = event.data;
    const { store, runId } = this.#options;
    const controller = new AbortController();
    this.#open.set(id, controller);
    // If a rule decides the request, the run does not wait, and the client is not asked.
    const record = await store.findRun(runId).catch(() => undefined);
    if (record !== undefined && record.state !== 'waiting') return;
    // Another client might have answered meanwhile.
    if (controller.signal.aborted) return;
    let optionId: string | undefined;
    let reason: string | undefined;
    try {
      const outcome = await this.#options.ask(toAcpPermission(event), controller.signal);
      if (outcome !== 'cancelled') optionId = options.find((option) => option.id === outcome.optionId)?.id;
      if (outcome !== 'cancelled' && optionId === undefined)
        reason = 'The client chose an option that was not offered.';
    } catch (error) {
      reason = `The client did not answer the permission request: ${getErrorMessage(error)}`.slice(0, 500);
    }
    // A missing or invalid answer counts as a rejection.
    optionId ??= options.find(({ kind }) => kind.startsWith('reject'))?.id;
    if (optionId === undefined) return;
    await this.#post(id, optionId, reason).catch(() => undefined);
  }

  async #post(id: string, optionId: string, reason: string | undefined): Promise<void> {
    const { store, runId, who } = this.#options;
    const reply = { interaction_id: id, option_id: optionId, who, ...(reason === undefined ? {} : { why: reason }) };
    while (this.#open.has(id)) {
      if ((await store.postReply(runId, encodeReply(reply))) !== 'not_waiting') return;
      // The run has not read the previous answer yet.
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          clearTimeout(timer);
          this.#waiting.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, RETRY_MS);
        this.#waiting.add(wake);
      });
    }
  }
}
