// First, so bundlers place the readers next to each other: gzip finds similar code only within 32 kB.
export { repairJson, type RepairJsonOptions } from './repair-json.js';
export type { AlignableSchema, Alignment, AlignmentChange, AlignmentSource } from './schema.js';
export type { Candidate, FinderName } from './find/spans.js';
export { parse, parseAsync, parseOrThrow, createCommentError } from './parse.js';
export { PARSE_ERROR_CODES, ParseError, type Attempt, type ParseErrorCode } from './parse-error.js';
export type { Limits, Normalizer, ParseOptions, Profile, TextInput } from './options.js';
export type { ParseComment, ParseFailure, ParseResult, ParseSuccess, RepairLevel } from './result.js';
export { REPAIR_KINDS, type Path, type Repair, type RepairKind } from './repair.js';
export type { RetryPrompt } from './retry-prompt.js';
export type { InferOutput, SchemaIssue, StandardIssue, StandardResult, StandardSchema } from './schema.js';
export type { DeepPartial } from './stream/json-stream.js';
export { createJsonStream, type JsonSnapshot, type JsonStream, type JsonStreamOptions } from './stream/json-stream.js';
export type { PartialOptions } from './stream/value-follower.js';
export { readChunk, type ModelChunk, type ModelEvent } from './stream/model-chunk.js';
export { createJsonTransform, streamJson } from './stream/stream-json.js';
export { WARNING_CODES, type Warning, type WarningCode } from './result.js';
export { resolveLimits } from './options.js';
export {
  generateAndParse,
  type AttemptReport,
  type GenerateOptions,
  type GenerateResult,
  type ModelAnswer,
  type ModelCall,
} from './generate-and-parse.js';
