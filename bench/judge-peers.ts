import { isDeepStrictEqual } from 'node:util';
import type { Subject } from './measure.js';
import type { Peer } from './peers.js';

/** A peer, and whether it returns the intended value. */
export interface JudgedPeer {
  readonly name: string;
  readonly verdict: 'right' | 'wrong' | 'refuses' | 'too slow';
  /** Undefined if there is nothing to time. */
  readonly subject?: Subject;
}

/** A single run longer than this is not repeated. */
const MAX_RUN_MS = 3000;

/** Runs each peer once and compares with the intended value. */
export async function judgePeers(peers: readonly Peer[], text: string, intended: unknown): Promise<JudgedPeer[]> {
  const judgedPeers: JudgedPeer[] = [];
  for (const { name, read, run } of peers) {
    const start = performance.now();
    const verdict = await judge(read, text, intended);
    if (verdict === 'refuses') judgedPeers.push({ name, verdict });
    else if (performance.now() - start > MAX_RUN_MS) judgedPeers.push({ name, verdict: 'too slow' });
    else judgedPeers.push({ name, verdict, subject: { name, run: () => run(text) } });
  }
  return judgedPeers;
}

async function judge(read: Peer['read'], text: string, intended: unknown): Promise<'right' | 'wrong' | 'refuses'> {
  try {
    return isDeepStrictEqual(await read(text), intended) ? 'right' : 'wrong';
  } catch {
    return 'refuses';
  }
}
