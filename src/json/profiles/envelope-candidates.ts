import { envelopeContents } from '../find/envelope.js';
import { untouched, type Reading } from '../reader/read-value.js';
import { found, type FoundCandidate, type RejectedValue } from './found-candidate.js';

/** Envelopes inside envelopes, at most. */
const DEEPEST_ENVELOPE = 6;

/**
 * What the rejected values may hold inside. Contents that are rejected in turn join the list while it is walked, so that
 * envelopes inside envelopes are opened too.
 */
export function* findInEnvelopes(
  rejected: readonly RejectedValue[],
  from: number,
  findInText: (text: string) => Iterable<FoundCandidate>,
): Generator<FoundCandidate> {
  for (let index = from; index < rejected.length; index++) {
    const envelope = rejected[index];
    if (envelope === undefined || envelope.candidate.level >= DEEPEST_ENVELOPE) continue;
    const { start, end, level } = envelope.candidate;
    const inside = (read: FoundCandidate['read']): FoundCandidate => ({
      ...found('envelope', start, end, read),
      level: level + 1,
    });
    for (const content of envelopeContents(envelope.value)) {
      if (typeof content !== 'string') {
        yield inside(() => untouched(structuredClone(content), end));
      } else {
        for (const { read } of findInText(content)) yield inside(() => movedTo(start, end, read()));
      }
    }
  }
}

/** Offsets inside the content mean nothing in the text around it: they are those of the envelope. */
function movedTo(offset: number, end: number, reading: Reading): Reading {
  if (!('value' in reading)) return reading;
  return { ...reading, repairs: reading.repairs.map((repair) => ({ ...repair, offset })), end };
}
