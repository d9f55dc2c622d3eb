import type { Client } from '../../src/server/client/index.js';
import type { FcmpEvent } from '../../src/events/index.js';
import { t } from '../app/texts.js';

/** The permission request that an answer belongs to. */
export interface RequestRef {
  readonly run: string;
  readonly interactionId: string;
  /** The number of the event with the request. */
  readonly seq: number;
}

/** Reads the events after a permission request: why an answer must not be sent any more, or null. */
export async function findAnswerObstacle(
  client: Pick<Client, 'readHistory'>,
  { run, interactionId, seq }: RequestRef,
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
