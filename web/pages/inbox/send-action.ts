import type { WaitingEntry } from '../../../src/api/index.js';
import { client } from '../../server/client.js';
import { delayAction } from '../../server/delayed-actions.js';
import { loadWaiting } from '../../server/waiting.js';
import { describeAction, findOption } from './queue.js';
import type { BulkAction } from './queue.js';

/** Sends an action for multiple entries after a delay, during which it can be undone. */
export function sendLater(
  action: BulkAction,
  entries: readonly WaitingEntry[],
  { why, who }: { readonly why: string; readonly who: string },
): void {
  const parts = entries.map((entry) => ({ id: entry.id, send: async () => send(action, entry, { why, who }) }));
  delayAction({ title: describeAction(action, entries), parts, onDone: () => void loadWaiting() });
}

async function send(
  action: BulkAction,
  entry: WaitingEntry,
  { why, who }: { readonly why: string; readonly who: string },
): Promise<void> {
  if (entry.kind === 'result' && (action === 'accept' || action === 'retry' || action === 'reject')) {
    await client.resolveItem({ id: entry.id, body: { action, why, ...(who === '' ? {} : { who }) } });
  }
  if (entry.kind === 'sink' && action === 'redeliver') await client.redeliverSink({ body: { sink: entry.sink } });
  if (entry.kind === 'permission' && (action === 'allow' || action === 'deny')) {
    const option = findOption(entry, action);
    if (option === undefined) return;
    await client.replyToRun({ id: entry.run, body: { interaction_id: entry.interaction_id, option_id: option.id } });
  }
}
