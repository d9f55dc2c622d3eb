/**
 * Bounds on the cost of a single input, on top of the limits that callers set (`options.ts`), and the flags of
 * `pipeline.ts`. They have their own file because esbuild inlines imported numbers, which makes bundles smaller.
 */

/** The values that a round accepts: truncated values; aligned values; the input itself as a string; the aligner's reading of it. */
export const COMPLETED = 1;
export const ALIGNED = 2;
export const WORDS = 4;
export const TEXT = 8;

/** Maximum number of containers searched per envelope, and their maximum depth. */
export const MAX_CONTAINERS = 64;
export const MAX_CONTENT_DEPTH = 8;
/** Maximum nesting depth of envelopes. */
export const MAX_ENVELOPE_DEPTH = 6;
/** Cost of trying one bracket, expressed in characters read. */
export const TRY_COST = 16;
/** Number of further candidates examined after a match, to detect ambiguity. */
export const MAX_ALTERNATIVES = 32;
/** Number of levels of a value that are examined by recursion at a time. */
export const WALK_DEPTH = 64;
/** Number of characters before and after a value searched for words about it, and of those that a message quotes. */
export const MAX_WORDS_BEFORE = 160;
export const MAX_WORDS_AFTER = 240;
export const MAX_QUOTE_LENGTH = 60;
/** Number of characters of a comment that are examined. */
export const MAX_COMMENT_LENGTH = 80;
/** Depth to which a value is searched for inexact numbers. */
export const MAX_SEARCH_DEPTH = 4000;
/** Maximum number of repairs listed; the rest are only counted. */
export const MAX_REPAIRS = 1000;
/** Number of consumed characters kept for look-behind. */
export const LOOK_BEHIND = 64;
/** Chunks are joined at this length: many small strings take more memory than one long one. */
export const JOIN_LENGTH = 16_384;
/** Maximum number of duplicate keys reported. */
export const MAX_DUPLICATES = 100;
/** Number of characters examined to determine what a string's backslashes mean. */
export const MAX_LOOKAHEAD = 256;
/** Length of the longest escape, and number of characters searched for evidence that a quote opens the next token. */
export const MAX_ESCAPE_LENGTH = 12;
export const NEXT_TOKEN_WINDOW = 512;
/**
 * Longer unquoted text is prose. This bounds how much a stream rescans when more arrives, and the length of one match:
 * the patterns look ahead at every character, and the engine's stack overflows after a few million.
 */
export const MAX_BARE_LENGTH = 4096;
/** Longest fence (including its language tag) whose end the reader waits for. */
export const MAX_FENCE_LENGTH = 40;
/** Number of characters at the end of the input searched for the last bracket. */
export const MAX_TAIL_LENGTH = 64;
/** Maximum nesting depth of the items in a run of plain items (`reader/plain-run.ts`). */
export const RUN_DEPTH = 3;
/** Number of characters searched for one run: bounds the cost of a failed search, and the pattern's stack use. */
export const RUN_WINDOW = 16_384;
/** Shorter runs are read just as fast token by token. */
export const MIN_RUN_LENGTH = 512;
/** Number of characters read before the first search for a run, and after a failed search, doubled each time. */
export const MIN_RUN_OFFSET = 1024;
export const MIN_SEARCH_GAP = 16;
export const MAX_SEARCH_GAP = 8192;
/** Text that might turn out not to be a value is kept up to this length for rescanning. */
export const MAX_UNDECIDED_LENGTH = 4096;
/** Length of an error message in a retry prompt: enough to correct the answer. */
export const MAX_SUMMARY_LENGTH = 2000;
/** A longer schema is omitted from a retry prompt: half a schema would be misleading. */
export const MAX_SCHEMA_LENGTH = 4000;
/** Maximum delay between two model calls, in milliseconds. */
export const MAX_BACKOFF_MS = 60_000;
