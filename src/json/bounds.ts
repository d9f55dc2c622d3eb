/**
 * The bounds on the cost of one text, in addition to the limits that callers set (`options.ts`). In a separate file, because
 * esbuild inlines imported numbers, which makes bundles smaller.
 */

/** Maximum number of containers searched per envelope, and their maximum depth. */
export const MAX_CONTAINERS = 64;
export const MAX_CONTENT_DEPTH = 8;
/** Maximum number of envelopes around each other. */
export const MAX_ENVELOPE_DEPTH = 6;
/** Cost of trying one bracket, in characters read. */
export const COST_OF_TRY = 16;
/** How many candidates are examined after a winner that may not be the only one. */
export const MAX_RIVALS = 32;
/** How deep a value is searched for numbers that are not exact. */
export const MAX_SEARCH_DEPTH = 4000;
/** Maximum number of repairs that are listed; the rest are counted. */
export const MAX_REPAIRS = 1000;
/** How many characters already read are kept for look-behind. */
export const LOOK_BEHIND = 64;
/** Pieces of text are joined at this length: many small strings take more memory than their text. */
export const TEXT_BLOCK = 16_384;
/** Maximum number of duplicate keys that are reported. */
export const MAX_DUPLICATES = 100;
/** Characters examined to judge the backslashes of a string. */
export const MAX_LOOKAHEAD = 256;
/** Characters of the longest escape, and characters searched for evidence that a quote opens the next token. */
export const MAX_ESCAPE_LENGTH = 12;
export const NEXT_TOKEN_WINDOW = 512;
/**
 * More unquoted text than this is prose. Bounds the text that a stream scans again when more arrives, and the length of one
 * match: the patterns look ahead at every character, and the engine's stack allows that only a few million times.
 */
export const MAX_BARE_LENGTH = 4096;
/** The longest fence, with its language word, whose end the reader waits for. */
export const MAX_FENCE_LENGTH = 40;
/** Characters at the end of a text that are searched for its last bracket. */
export const MAX_TAIL_LENGTH = 64;
/** Maximum nesting depth of the items in a run of plain items (`reader/plain-run.ts`). */
export const RUN_DEPTH = 3;
/** Characters searched for one run: bounds the cost of a failed search, and the stack that its pattern uses. */
export const RUN_WINDOW = 16_384;
/** Shorter runs are read just as fast token by token. */
export const MIN_RUN_LENGTH = 512;
/** Characters read before the first search for a run, and between a failed search and the next one, doubled each time. */
export const SHORT_TEXT = 1024;
export const MIN_PAUSE = 16;
export const MAX_PAUSE = 8192;
/** Text that may turn out not to be a value is kept up to this length, to be scanned again. */
export const MAX_UNDECIDED_LENGTH = 4096;
/** Characters of an error message in a retry prompt: enough to correct the answer. */
export const MAX_SUMMARY_LENGTH = 2000;
/** Characters of a rejected value in a retry prompt: enough to recognize it. */
export const MAX_VALUE_LENGTH = 500;
/** A longer schema is left out of a retry prompt: half of one would mislead. */
export const MAX_SCHEMA_LENGTH = 4000;
/** Milliseconds between two calls of a model, at most. */
export const MAX_BACKOFF_MS = 60_000;
