import { SluiceError } from '../../base/index.js';

/** Why a message did not reach its sink; `docs/errors.md` says what to do. */
export const SINK_ERROR_CODES = [
  'SINK_UNREACHABLE',
  'SINK_TIMED_OUT',
  'SINK_REFUSED',
  'SINK_ANSWER_UNREADABLE',
  'SINK_PRIVATE_ADDRESS',
  'SINK_WRONG_ISSUE_REF',
  'SINK_FILE_UNUSABLE',
  'SINK_TOO_MANY_COMMENTS',
] as const;

/** One of {@link SINK_ERROR_CODES}. */
export type SinkErrorCode = (typeof SINK_ERROR_CODES)[number];

/**
 * A failed delivery. Whether the message arrived is unknown unless the sink refused it.
 *
 * @example
 * throw new SinkError('SINK_REFUSED', 'The forge does not know this issue.', { isPermanent: true })
 */
export class SinkError extends SluiceError<SinkErrorCode> {
  override readonly name = 'SinkError';
  /** Trying again cannot help until a person changes something. */
  readonly isPermanent: boolean;
  /** How long the sink asked us to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(code: SinkErrorCode, message: string, details: SinkErrorDetails = {}) {
    super(code, message, details.cause === undefined ? undefined : { cause: details.cause });
    this.isPermanent = details.isPermanent ?? false;
    this.retryAfterMs = details.retryAfterMs;
  }
}

interface SinkErrorDetails {
  readonly isPermanent?: boolean;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}
