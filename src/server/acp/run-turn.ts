import { createUlidGenerator } from '../../base/index.js';
import { createAcpProjection } from '../../events/index.js';
import type { AcpUpdate, FcmpEvent } from '../../events/index.js';
import { runInProcess } from '../../orders/dispatch/index.js';
import type { WorkContext } from '../../orders/dispatch/index.js';
import type { RunResult, RunSpec } from '../../store/records/index.js';
import type { Run, RunInputs } from '../../runs/index.js';
import { PermissionRelay } from './permission-relay.js';
import type { RelayOptions } from './permission-relay.js';

/** A turn's client. */
export interface TurnClient extends Pick<RelayOptions, 'ask' | 'who'> {
  /** Sends an update; resolves when the client has room for more. */
  update(update: AcpUpdate): Promise<void>;
}

/** One prompt of a session. */
export interface Turn {
  readonly id: string;
  /** Its position in the session, from 1. */
  readonly number: number;
  readonly spec: RunSpec;
  readonly inputs: RunInputs;
  /** Called when the run is in the store and has started. */
  readonly onStart: () => void;
}

/** Executes a prompt as a run and sends its updates to the client as they happen. */
export async function runTurn(context: WorkContext, turn: Turn, client: TurnClient): Promise<RunResult> {
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
