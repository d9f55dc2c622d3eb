import type { LogPosition } from '../../events/index.js';
import type { EventLog } from '../../runs/index.js';
import { gapText } from './sse-text.js';
import { following, logOf } from './stream-protocol.js';
import type { StreamProtocol } from './stream-protocol.js';

/**
 * The gap to tell at the end of a run that had events, if none of them is left: a reader cannot know then whether it had all.
 * Empty while any is left, because the oldest are forgotten first.
 */
export async function forgottenText(
  log: Pick<EventLog, 'read'>,
  {
    runId,
    protocol,
    after,
  }: { readonly runId: string; readonly protocol: StreamProtocol; readonly after: LogPosition },
): Promise<string> {
  const left = await log.read({ runId, protocol: logOf(protocol), limit: 1 });
  return left.length > 0 ? '' : gapText(protocol, following(protocol, after), null);
}
