import { count, object, oneOf, ordinal } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';

/** The streams of an agent whose bytes are kept, in the order in which they are read where no timing is known. */
export const STREAMS = ['stdout', 'stderr', 'pty'] as const;

/** One of {@link STREAMS}. */
export type StreamName = (typeof STREAMS)[number];

/** How the bytes behind an event read: `binary` where they are not valid UTF-8, so the text shows substitutes. */
export const RAW_ENCODINGS = ['utf-8', 'binary'] as const;

/** Where in which stream the bytes of an event's frame are: `byte_from` to `byte_to`, the end not included. */
export const rawRefSchema = object({
  attempt_number: ordinal,
  stream: oneOf(STREAMS),
  byte_from: count,
  byte_to: count,
  encoding: oneOf(RAW_ENCODINGS),
});

/** The bytes behind an event: which stream, from where to where. */
export type RawRef = FromSchema<typeof rawRefSchema>;
