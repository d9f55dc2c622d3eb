import type { FoundCandidate, RejectedValue } from '../found-candidate.js';
import { envelopeContents } from '../find/envelope.js';
import type { Reading } from '../reader/read-value.js';

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
    if (envelope === undefined || envelope.level >= DEEPEST_ENVELOPE) continue;
    for (const content of envelopeContents(envelope.value)) {
      if (typeof content !== 'string') yield inEnvelope(envelope, () => asReading(content, envelope.candidate.end));
      else for (const found of findInText(content)) yield inEnvelope(envelope, found.read, found.optional);
    }
  }
}

function inEnvelope(envelope: RejectedValue, read: FoundCandidate['read'], optional = false): FoundCandidate {
  const { start, end } = envelope.candidate;
  return {
    finder: 'envelope',
    start,
    end,
    level: envelope.level + 1,
    optional,
    // Offsets inside the content mean nothing in the text around it.
    read: (truncation) => {
      const reading = read(truncation);
      return reading.ok ? { ...reading, repairs: reading.repairs.map((repair) => ({ ...repair, offset: start })), end } : reading;
    },
  };
}

function asReading(value: unknown, end: number): Reading {
  return { ok: true, value: structuredClone(value), repairs: [], duplicates: [], end };
}
