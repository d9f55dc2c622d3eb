import { createUlids } from '../base/index.js';
import { createAcpProjection } from '../events/index.js';
import type { AcpUpdate, FcmpEvent } from '../events/index.js';
import { runHere } from '../dispatch/index.js';
import type { WorkContext } from '../dispatch/index.js';
import type { RunResult, RunSpec } from '../records/index.js';
import type { Run, RunInputs } from '../runs/index.js';
import { PermissionRelay } from './permission-relay.js';
import type { RelayPorts } from './permission-relay.js';

/** The client of a turn. */
export interface TurnClient extends Pick<RelayPorts, 'ask' | 'who'> {
  /** Sends an update; resolves when the client has room for more. */
  update(update: AcpUpdate): Promise<void>;
}

/** One prompt of a conversation. */
export interface Turn {
  readonly id: string;
  /** Counted from 1 in its conversation. */
  readonly number: number;
  readonly spec: RunSpec;
  readonly inputs: RunInputs;
}

/** Executes a prompt as a run, and sends what happens to the client while it works. */
export async function runTurn(context: WorkContext, turn: Turn, client: TurnClient): Promise<RunResult> {
  const { id, number, spec, inputs } = turn;
  const { store } = context;
  const relay = new PermissionRelay({ store, runId: id, who: client.who, ask: prefixCall(client.ask, number) });
  let following: Promise<void> | undefined;
  const result = await runHere(context, {
    id,
    spec,
    inputs,
    onRun: (run) => {
      following = follow(run, number, client, relay);
    },
  });
  await following;
  relay.end();
  return result;
}

export const newTurnId = createUlids();

async function follow(run: Run, number: number, client: TurnClient, relay: PermissionRelay): Promise<void> {
  const translate = createTurnUpdates(number);
  try {
    for await (const { protocol, event } of run.events) {
      if (protocol !== 'fcmp') continue;
      for (const update of translate(event)) await client.update(update);
      // After its updates, so that the client already knows the tool call it is asked about.
      relay.onEvent(event);
    }
  } catch {
    // Either the client is gone, which ends the run, or the log is broken, which the result reports.
    relay.end();
  }
}

/** Events that are not sent: permissions are requested separately, and raw output can be read in the run. */
const LEFT_OUT: ReadonlySet<FcmpEvent['type']> = new Set([
  'raw.stdout',
  'raw.stderr',
  'permission.required',
  'permission.replied',
]);

/** Translates the events of one turn. Engines start counting again in each run, and a conversation needs ids that are unique. */
export function createTurnUpdates(number: number): (event: FcmpEvent) => AcpUpdate[] {
  const projection = createAcpProjection();
  return (event) => {
    if (LEFT_OUT.has(event.type)) return [];
    return projection.push(event).map(({ update }) => {
      if ('toolCallId' in update) return { ...update, toolCallId: nameInTurn(update.toolCallId, number) };
      return 'messageId' in update ? { ...update, messageId: nameInTurn(update.messageId, number) } : update;
    });
  };
}

function nameInTurn(id: string, number: number): string {
  return number === 1 ? id : `t${number}/${id}`;
}

function prefixCall(ask: RelayPorts['ask'], number: number): RelayPorts['ask'] {
  return async ({ toolCall, options }, signal) =>
    ask({ toolCall: { ...toolCall, toolCallId: nameInTurn(toolCall.toolCallId, number) }, options }, signal);
}
