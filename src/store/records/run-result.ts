import { anything, arrayOf, count, flag, name, object, oneOf, orNull, text, timestamp } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import { ERROR_CATEGORIES, fsDiffSchema, runFailureCause, usageSchema } from '../../events/index.js';
import { sandboxNetwork } from './run-spec.js';

export const runOutcome = oneOf(['success', 'failed', 'canceled', 'comment']);

/** How much the answer had to be changed to meet the contract. */
export const repairLevel = oneOf(['none', 'deterministic_generic', 'schema_aligned']);

export const runFailureSchema = object(
  { category: oneOf(ERROR_CATEGORIES), code: name, message: text },
  {
    /** As the engine or, with `PLACEMENT_FAILED`, the placement reported it. */
    cause: runFailureCause,
    /** The HTTP status the engine received from the model API, if reported. */
    http_status: count,
    issues: arrayOf(object({ path: arrayOf({ type: ['string', 'integer'] }), message: text })),
    /** The candidates that were tried, and why each was rejected. */
    tried: arrayOf(object({ finder: name, start: count, end: count, code: name, message: text })),
  },
);

const processSchema = object({
  exit_code: orNull({ type: 'integer' }),
  signal: orNull(name),
  /** The command that was started, with secrets masked. */
  command: arrayOf(text),
  /** The version the executable reports; null if unknown. */
  version: orNull(text),
});

/** A diagnostic of the engine or its reader; each kind is listed once, with its count. */
const diagnosticSchema = object(
  { code: name, message: text, count },
  { severity: oneOf(['warning', 'error']), http_status: count },
);

/**
 * A tool that the agent was not allowed to use. Long inputs are omitted. `by` is absent if the engine itself denied it.
 */
const denialSchema = object(
  {
    tool: name,
    /** `engine`: its own rules denied the tool, without asking. */
    by: oneOf(['rule', 'person', 'engine']),
    why: text,
    at: timestamp,
  },
  { tool_call_id: name, input: anything, who: text },
);

/** Size and SHA-256 of a captured stream, which `sluice replay` uses to detect later changes to the file. */
const capturedSchema = object({
  attempt: { type: 'integer', minimum: 1 },
  stream: oneOf(['stdout', 'stderr', 'pty', 'stdin']),
  bytes: count,
  sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' },
});

/** Numbers that the engine reported at its end, besides tokens and cost, added up over all attempts. */
const engineReportSchema = object(
  {},
  { premium_requests: { type: 'number', minimum: 0 }, duration_ms: count, duration_api_ms: count },
);

const driftSchema = object({ unknown_types: count, unknown_fields: count });

/** Whether the process was sandboxed, and its network access or why it was not sandboxed. */
const runSandboxSchema = object(
  { used: flag },
  {
    network: sandboxNetwork,
    reason: text,
    /** For a container: its image, and the engine with its version. */
    image: name,
    engine: text,
  },
);

export const runResultSchema = object(
  {
    status: runOutcome,
    repair_level: repairLevel,
    warnings: arrayOf(object({ code: name, message: text })),
    artifacts: fsDiffSchema,
    /** The number of attempts. */
    attempts: count,
    session_id: orNull(name),
  },
  {
    /** Only with `success` and a contract. */
    value: anything,
    /** All of the agent's messages, if the output contains no value and the contract allows that. */
    comment: text,
    /** The agent's last message, in every status; for engine `command`, all of stdout. At most the last 16 MiB. */
    text,
    /** The model that the engine reported, or the requested one. */
    model: name,
    /** Diagnostics of the engine and its reader over all attempts, limited in number; omitted if empty. */
    diagnostics: arrayOf(diagnosticSchema),
    /** Tools that the agent was not allowed to use; omitted if empty. */
    denials: arrayOf(denialSchema),
    /** The first repairs made to the validated answer; omitted if empty. */
    repairs: arrayOf(object({ kind: name, message: text, offset: count })),
    error: runFailureSchema,
    /** Types and fields in the engine's output that this version does not support; omitted if empty. */
    drift: driftSchema,
    usage: usageSchema,
    /** Absent if the engine reports none. */
    engine_report: engineReportSchema,
    /** How the last attempt's process exited, used to decide about orders; absent if no process was started. */
    process: processSchema,
    /** Every captured stream; absent if nothing was captured. */
    captured: arrayOf(capturedSchema),
    /** Absent if no sandbox was requested or no process was started. */
    sandbox: runSandboxSchema,
    /** The run whose cached result this is. */
    cached_from: name,
  },
);

/** The result of a run. */
export type RunResult = FromSchema<typeof runResultSchema>;

/** Unknown types and fields in the output of an engine, counted over all attempts. */
export type RunDrift = FromSchema<typeof driftSchema>;

export type RunDiagnostic = FromSchema<typeof diagnosticSchema>;

export type RunDenial = FromSchema<typeof denialSchema>;

export type RunSandbox = FromSchema<typeof runSandboxSchema>;

/** The process of an attempt and how it exited. */
export type RunProcess = FromSchema<typeof processSchema>;

/** Why there is no value, and which candidates were tried. */
export type RunFailure = FromSchema<typeof runFailureSchema>;

/** Warnings in a run's result, besides those about its output. A closed list: `docs/errors.md` explains each. */
export const RUN_WARNING_CODES = [
  'ARTIFACTS_INCOMPLETE',
  'TERMINAL_STATUS_COMPLETION_CONFLICT',
  'DONE_MARKER_MISSING',
  'TEXT_SHORTENED',
  'INVALID_UTF8',
  'APPROVAL_UNUSED',
  'COST_NOT_REPORTED',
  'UNPROVEN_VERSION',
  'NOT_CACHED',
  'SANDBOX_INCOMPLETE',
] as const;

/** A warning about a result that is otherwise valid. */
export interface RunWarning {
  readonly code: (typeof RUN_WARNING_CODES)[number];
  readonly message: string;
}
