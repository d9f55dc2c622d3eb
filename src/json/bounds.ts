/**
 * The bounds on the cost of one text, in addition to the limits that callers set (`options.ts`). In a separate file, because
 * esbuild inlines imported numbers.
 */

/** Containers looked into per envelope, and how deep. */
export const MAX_CONTAINERS = 64;
export const MAX_CONTENT_DEPTH = 8;
/** Envelopes inside envelopes, at most. */
export const DEEPEST_ENVELOPE = 6;
/** Cost of trying one bracket, in characters read. */
export const COST_OF_TRY = 16;
/** How many candidates are examined after a winner that may not be the only one. */
export const MAX_RIVALS = 32;
/** More repairs than this are not listed. */
export const MAX_REPAIRS = 1000;
/** How many characters already read are kept for look-behind. */
export const LOOK_BEHIND = 64;
/** Pieces are joined at this length: many small strings take more memory than their text. */
export const TEXT_BLOCK = 16_384;
/** More duplicate keys than this are not reported one by one. */
export const MAX_DUPLICATES = 100;
/** Characters examined to judge the backslashes of a string. */
export const MAX_LOOKAHEAD = 256;
/** Characters of the longest escape, and of what shows that a quote opens the next token. */
export const MAX_ESCAPE_LENGTH = 12;
export const NEXT_TOKEN_WINDOW = 512;
/**
 * More unquoted text than this is prose. Bounds what a stream scans again when more arrives, and how far its
 * patterns go at once: they look ahead at every character, for which the engine's stack has room a few million times.
 */
export const MAX_BARE_LENGTH = 4096;
/** A fence is skipped in one piece, once its language word is known to be complete. */
export const MAX_FENCE_LENGTH = 40;
/** White space after the last bracket that is looked through. */
export const MAX_TAIL_LENGTH = 64;
/** Containers inside one another in the items of a run, at most. */
export const RUN_DEPTH = 3;
/** Characters searched for one run: bounds the cost of a failed search, and the stack that its pattern uses. */
export const RUN_WINDOW = 16_384;
/** Shorter runs are read as fast token by token. */
export const MIN_RUN_LENGTH = 512;
/** Characters read before the first search for a run, and between a failed search and the next one, doubled each time. */
export const SHORT_TEXT = 1024;
export const MIN_PAUSE = 16;
export const MAX_PAUSE = 8192;
/** Text that may not be a value is kept up to this length, to be scanned again. */
export const MAX_UNDECIDED_LENGTH = 4096;
/** Enough of an error message to correct by; the rest would only crowd the prompt. */
export const MAX_SUMMARY_LENGTH = 2000;
/** Enough of a rejected value to recognize it. */
export const MAX_VALUE_LENGTH = 500;
/** A longer schema is left out: half of one would mislead. */
export const MAX_SCHEMA_LENGTH = 4000;
/** Milliseconds between two calls of a model, at most. */
export const MAX_BACKOFF_MS = 60_000;
