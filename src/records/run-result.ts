import { anything, arrayOf, count, flag, name, object, oneOf, orNull, text } from '../base/index.js';
import type { FromSchema } from '../base/index.js';
import { ERROR_CATEGORIES, fsDiffSchema, usageSchema } from '../events/index.js';
import { sandboxNetwork } from './run-spec.js';

/** The possible outcomes of a run. */
export const runOutcome = oneOf(['success', 'failed', 'canceled', 'comment']);

/** How far the answer had to be changed before it met the contract. */
export const repairLevel = oneOf(['none', 'deterministic_generic', 'schema_aligned']);

/** Why the engine stopped, if it reported a cause. `model`: the model or its service refused the request or failed. */
export const failureCause = oneOf(['auth', 'rate_limit', 'quota', 'model', 'network', 'permission', 'unknown']);

/** Why there is no result, and what was tried. */
export const runFailureSchema = object(
  { category: oneOf(ERROR_CATEGORIES), code: name, message: text },
  {
    /** Absent where the engine reported no error. */
    cause: failureCause,
    /** The status the engine got from its model, if reported. */
    http_status: count,
    issues: arrayOf(object({ path: arrayOf({ type: ['string', 'integer'] }), message: text })),
    /** The candidates that were looked at, and why each was rejected. */
    tried: arrayOf(object({ finder: name, start: count, end: count, code: name, message: text })),
  },
);

const processSchema = object({
  exit_code: orNull({ type: 'integer' }),
  signal: orNull(name),
  /** The started command, secrets masked. */
  command: arrayOf(text),
  /** The version the program reports; null if unknown. */
  version: orNull(text),
});

/** A diagnostic of the engine or its reader; each kind is listed once, with its count. */
const diagnosticSchema = object(
  { code: name, message: text, count },
  { severity: oneOf(['warning', 'error']), http_status: count },
);

/** A tool the agent wanted to use and was not allowed to. `input` is absent if it is long. */
const denialSchema = object({ tool: name, reason: text }, { tool_call_id: name, input: anything });

/** The captured bytes of a stream by their SHA-256: `sluice replay` detects if the file was changed afterwards. */
const capturedSchema = object({
  attempt: { type: 'integer', minimum: 1 },
  stream: oneOf(['stdout', 'stderr', 'pty', 'stdin']),
  bytes: count,
  sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' },
});

const driftSchema = object({ unknown_types: count, unknown_fields: count });

/** Whether the process was sandboxed: what it could reach, or why it was not. */
const runSandboxSchema = object({ used: flag }, { network: sandboxNetwork, reason: text });

/** The result of a run. */
export const runResultSchema = object(
  {
    status: runOutcome,
    repair_level: repairLevel,
    warnings: arrayOf(object({ code: name, message: text })),
    artifacts: fsDiffSchema,
    /** How many attempts it took. */
    attempts: count,
    session_id: orNull(name),
  },
  {
    /** Only with `success` and a contract. */
    value: anything,
    /** The agent's words, where the output has no value and the contract allows that. */
    comment: text,
    /** The agent's last message, in every status; for engine `command`, all of stdout. At most 16 MiB: the end is kept. */
    text,
    /** The model the engine named, or the one it was asked to use. */
    model: name,
    /** Reports of the engine and its reader over all attempts, bounded; absent if there are none. */
    diagnostics: arrayOf(diagnosticSchema),
    /** Tools the agent was not allowed to use; absent if there were none. */
    denials: arrayOf(denialSchema),
    /** The first changes made to the syntax of the answer that was validated; absent if there were none. */
    repairs: arrayOf(object({ kind: name, message: text, offset: count })),
    error: runFailureSchema,
    /** Types and fields of the engine's output that are unknown to this version; absent if there were none. */
    drift: driftSchema,
    usage: usageSchema,
    /** Exit of the last attempt's process; absent if none was started. Decisions about orders use it. */
    process: processSchema,
    /** Every captured stream; absent if nothing was captured. */
    captured: arrayOf(capturedSchema),
    /** Absent where no sandbox was wanted or no process was started. */
    sandbox: runSandboxSchema,
    /** The run whose cached result this is. */
    cached_from: name,
  },
);

/** The result of a run. */
export type RunResult = FromSchema<typeof runResultSchema>;

/** Types and fields of an engine's output that no reader knows, counted over all attempts. */
export type RunDrift = FromSchema<typeof driftSchema>;

/** A report of the engine or its reader. */
export type RunDiagnostic = FromSchema<typeof diagnosticSchema>;

/** A tool the agent wanted to use and was not allowed to. */
export type RunDenial = FromSchema<typeof denialSchema>;

/** Why the engine stopped, if it reported a cause. */
export type FailureCause = FromSchema<typeof failureCause>;

/** Whether a process was sandboxed. */
export type RunSandbox = FromSchema<typeof runSandboxSchema>;

/** The process of an attempt after it ended. */
export type RunProcess = FromSchema<typeof processSchema>;

/** Why there is no result, and what was tried. */
export type RunFailure = FromSchema<typeof runFailureSchema>;
