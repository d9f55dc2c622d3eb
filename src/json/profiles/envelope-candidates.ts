import { envelopeContents } from '../find/envelope.js';
import { untouched, type Reading } from '../reader/read-value.js';
import { found, type FoundCandidate, type RejectedValue } from './found-candidate.js';

/** Envelopes inside envelopes, at most. */
const DEEPEST_ENVELOPE = 6;

/**
 * What the rejected values may hold inside; each is taken off the list. Contents that are rejected in turn join it
 * meanwhile, so that envelopes inside envelopes are opened too.
 */
export function* findInEnvelopes(
  rejected: RejectedValue[],
  findInText: (text: string) => Iterable<FoundCandidate>,
): Generator<FoundCandidate> {
  for (let envelope = rejected.shift(); envelope !== undefined; envelope = rejected.shift()) {
    if (envelope.candidate.level >= DEEPEST_ENVELOPE) continue;
    const { start, end, level } = envelope.candidate;
    const inside = (read: FoundCandidate['read'], first?: Reading): FoundCandidate =>
      found('envelope', start, end, read, false, first, level + 1);
    for (const content of envelopeContents(envelope.value)) {
      if (typeof content !== 'string') {
        yield inside(() => untouched(structuredClone(content), end));
      } else {
        for (const { read, first } of findInText(content))
          yield inside(() => movedTo(start, end, read()), first && movedTo(start, end, first));
      }
    }
  }
}

/** Offsets inside the content mean nothing in the text around it: they are those of the envelope. */
function movedTo(offset: number, end: number, reading: Reading): Reading {
  const repairs = 'value' in reading ? reading.repairs.map((repair) => ({ ...repair, offset })) : [];
  return reading.ok
    ? { ...reading, repairs, end }
    : { ...reading, failure: { ...reading.failure, offset }, repairs, end };
}
