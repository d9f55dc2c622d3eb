import { comparePositions } from '../../events/index.js';
import type { EventLog } from '../../runs/index.js';
import type { Broadcast, Reader } from './broadcast.js';
import type { Broadcasts, RunEnd } from './broadcasts.js';
import { drainedInTime } from './drained-in-time.js';
import { forgottenText } from './forgotten-text.js';
import type { Passage } from './passage.js';
import { endText, lagText } from './sse-text.js';
import type { StreamProtocol } from './stream-protocol.js';
import { createTelling } from './telling.js';
import type { SharedPassages, Telling } from './telling.js';

/** What a reader follows, and with what help. */
export interface FollowOptions {
  readonly runId: string;
  readonly protocol: StreamProtocol;
  readonly log: Pick<EventLog, 'read'>;
  readonly broadcasts: Broadcasts;
  readonly shared: SharedPassages;
  /** What was read already in order to know that there is something. */
  readonly telling?: Telling | undefined;
  readonly passage?: Passage | undefined;
}

/** While a reader is shown the past, so much may wait for it. */
const MOST_UNSENT = 64 * 1024;

/**
 * Sends a reader everything after its position: the past from the store, at the reader's pace, then the present along with
 * all others. A reader that falls behind is told so and begins again with the past, from where it stands.
 */
export async function follow(reader: Reader, options: FollowOptions): Promise<void> {
  const { runId, protocol, log, broadcasts, shared } = options;
  const { outlet } = reader;
  let { telling, passage } = options;
  let end: RunEnd | undefined;

  /** Whether the reader has to go on by itself. */
  async function isLeftBehindBy(broadcast: Broadcast): Promise<boolean> {
    telling = undefined;
    passage = undefined;
    if ((await broadcast.carry(reader)) === 'over') return false;
    if (!(await isReady())) return false;
    outlet.write(Buffer.from(lagText(protocol, reader.position)));
    return true;
  }

  async function isReady(): Promise<boolean> {
    if (await drainedInTime(outlet)) return true;
    outlet.destroy();
    return false;
  }

  while (!outlet.isClosed) {
    const broadcast = broadcasts.find(runId, protocol);
    if (broadcast?.covers(reader.position) === true) {
      if (await isLeftBehindBy(broadcast)) continue;
      return;
    }
    if (broadcast !== undefined && comparePositions(reader.position, broadcast.head) > 0) {
      await broadcast.nextLook();
      continue;
    }
    telling ??= createTelling({ log, runId, protocol, after: reader.position }, shared);
    passage ??= await telling.next();
    if (passage !== undefined) {
      outlet.write(passage.bytes);
      reader.position = passage.last;
      passage = undefined;
      if (outlet.unsent > MOST_UNSENT && !(await isReady())) return;
      continue;
    }
    if (end !== undefined) {
      const after = reader.position;
      const gap = after.seq > 0 ? await forgottenText(log, { runId, protocol, after }) : '';
      outlet.write(Buffer.from(gap + (await telling.finish()) + endText(protocol, end.status)));
      outlet.end();
      return;
    }
    end = await broadcasts.findEnd(runId);
    if (end !== undefined) continue;
    const other = broadcasts.find(runId, protocol);
    if (other !== undefined) await other.nextLook();
    else if (!(await isLeftBehindBy(broadcasts.open(runId, protocol, telling)))) return;
  }
}
