import { LOG_START, comparePositions, positionOf } from '../../events/index.js';
import type { LogPosition } from '../../events/index.js';
import type { EventLog } from '../../runs/index.js';
import { encodePassage } from './passage.js';
import type { Passage } from './passage.js';
import { groupText } from './sse-text.js';
import { following, logOf, wordOf } from './stream-protocol.js';
import type { StreamProtocol } from './stream-protocol.js';
import { createTeller } from './teller.js';

/** Tells the log of a run from a position on, passage by passage. */
export interface Telling {
  /** What was told last. */
  readonly position: LogPosition;
  /** What follows; undefined if nothing does, for now. */
  next(): Promise<Passage | undefined>;
  /** What is left to tell once the run has ended; the position is one further then, so that nobody hears it twice. */
  finish(): Promise<string>;
}

/** What a telling is about. */
export interface TellingOptions {
  readonly log: Pick<EventLog, 'read'>;
  readonly runId: string;
  readonly protocol: StreamProtocol;
  readonly after: LogPosition;
}

/** Who asks for the same passage while it is being read gets the same one. */
export type SharedPassages = Map<string, Promise<Passage | undefined>>;

const FEWEST = 16;
const MOST = 256;
/** A single event may have megabytes: passages grow only while they are small. */
const PASSAGE_BYTES = 256 * 1024;

/** Begins to tell after a position. A projection hears all that came before, because its words depend on it. */
export function createTelling({ log, runId, protocol, after }: TellingOptions, shared: SharedPassages): Telling {
  const teller = createTeller(protocol);
  const source = logOf(protocol);
  let position = after;
  let limit = FEWEST;
  let isCaughtUp = !teller.remembers;
  /** The last event that there really is up to `after`. */
  let heard = LOG_START;

  async function read(from: LogPosition) {
    return log.read({ runId, protocol: source, after: wordOf(protocol, from), limit });
  }

  async function catchUp(): Promise<void> {
    isCaughtUp = true;
    while (comparePositions(heard, after) < 0) {
      const to = wordOf(protocol, after);
      const page = await log.read({ runId, protocol: source, after: wordOf(protocol, heard), to, limit: MOST });
      const last = page.at(-1);
      if (last === undefined) return;
      for (const emitted of page) teller.tell(emitted);
      heard = positionOf(last);
    }
  }

  async function readPassage(): Promise<Passage | undefined> {
    const from = position;
    if (teller.remembers) return encodePassage(await read(from), { protocol, teller, after: from });
    const key = `${runId} ${protocol} ${wordOf(protocol, from)} ${limit}`;
    const underWay = shared.get(key);
    if (underWay !== undefined) return underWay;
    const passage = read(from)
      .then((events) => encodePassage(events, { protocol, teller, after: from }))
      .finally(() => shared.delete(key));
    shared.set(key, passage);
    return passage;
  }

  return {
    get position() {
      return position;
    },
    async next() {
      if (!isCaughtUp) await catchUp();
      const passage = await readPassage();
      if (passage === undefined) return undefined;
      position = passage.last;
      heard = passage.last;
      limit = passage.bytes.length < PASSAGE_BYTES ? Math.min(MOST, limit * 2) : Math.max(1, limit >> 1);
      return passage;
    },
    async finish() {
      if (!isCaughtUp) await catchUp();
      const told = comparePositions(position, heard) > 0 ? [] : teller.finish();
      position = following(protocol, position);
      return groupText(told, wordOf(protocol, position));
    },
  };
}
