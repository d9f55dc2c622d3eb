/** The diagnostic codes for an agent's output, each with its meaning. A closed list. */
export const DIAGNOSTIC_CODES = {
  UNPARSED_CONTENT_FELL_BACK_TO_RAW: 'These bytes are not in the engine’s format; they are in a raw event.',
  LOW_CONFIDENCE_PARSE: 'This is a guess; the confidence indicates how reliable it is.',
  UNKNOWN_EVENT_TYPE: 'The engine printed an unknown type; it is in a raw event.',
  UNKNOWN_FIELD: 'A record of a known type has an unknown field; its value is in a raw event.',
  MALFORMED_RECORD: 'A record of a known type lacks required fields; it is in a raw event.',
  TRUNCATED_RECORD: 'A value is truncated.',
  INVALID_UTF8: 'These bytes are not UTF-8; the text has replacement characters, the raw reference has the bytes.',
  RAW_TEXT_SHORTENED: 'The raw event shows only the start of its bytes; the raw reference covers them all.',
  VALUE_TOO_DEEP: 'A value is nested deeper than the limit; it is in a raw event.',

  PTY_STREAM_MISMATCH: 'The terminal and stdout differ; the message reports what was restored or set aside.',
  STREAM_DRIFT_OBSERVED: 'The engine printed its output on an unexpected stream.',
  INTERLEAVING_UNKNOWN: 'No timing is recorded: stdout, stderr and the terminal are read one after another.',
  TIMING_INCONSISTENT: 'The recorded timing does not match the recorded bytes; it is used as far as it matches.',

  UNKNOWN_ENGINE_PROFILE: 'The engine could not be detected from its output; it is read as plain text.',
  ENGINE_MISMATCH: 'The output does not look like output from the named engine.',
  NO_OUTPUT: 'The agent printed nothing.',

  SESSION_ID_CHANGED: 'The session id changed; the latest id is used.',
  SESSION_ID_MISSING: 'No session id was printed, so the session cannot be resumed.',
  TOOL_CALL_UNFINISHED: 'A tool call was started and its end was never printed.',
  TOOL_CALL_START_MISSING: 'A tool’s result was printed without its start.',
  DUPLICATE_MESSAGE_SUPPRESSED: 'The engine printed the same message again; it is reported once.',

  EARLY_END_OF_STREAM: 'The output stopped before the engine’s end signal.',
  SILENCE_AFTER_END: 'The process ran for a long time without output after the engine’s end signal.',
  OUTPUT_AFTER_END: 'The engine printed more output after its end signal.',
  TERMINAL_STATUS_COMPLETION_CONFLICT:
    'Exit code, signal, marker and end signal contradict each other; the order of precedence decided.',
  INCOMPLETE_STATE_CLASSIFICATION: 'It is unknown how the attempt ended.',
  OUTPUT_RETRIED: 'The output did not pass the contract schema, and the agent is asked again.',
  PERMISSION_PENDING:
    'The process was stopped because its permission request has not been answered yet; its session is resumed with the answer.',
  WORKER_LOST: 'The worker was lost while the agent was working; its session is resumed in the next attempt.',
  DONE_MARKER_MISSING:
    'The engine ended its turn without the done marker, and in mode `auto` no one can answer: the attempt counts as completed.',
  DONE_MARKER_REPEATED: 'The done marker was printed more than once.',

  TOOL_CALL_DENIED: 'The engine refused a tool call that its permissions do not allow.',
  ENGINE_ERROR: 'The engine reported an error.',
  ENGINE_WARNING: 'The engine reported a problem and continued.',
  ENGINE_RETRYING: 'One of the engine’s requests failed, and it is retrying.',
  ENGINE_RATE_LIMIT_HINT: 'The provider’s rate limit slowed the engine down.',
  ENGINE_AUTH_HINT: 'The provider rejected the engine’s credentials. Check them.',
  ENGINE_DEPRECATION_WARNING: 'The engine reported that something it uses is deprecated.',
  IFLOW_EXECUTION_INFO_PARSE_FAILED: 'The `<Execution Info>` block cannot be parsed.',
} as const;

/** One of the keys of `DIAGNOSTIC_CODES`. */
export type DiagnosticCode = keyof typeof DIAGNOSTIC_CODES;
