import { SluiceError } from '../../base/index.js';
import type { NewOutboxMessage } from '../../records/index.js';

/**
 * A target for comments. A sink sends once and never retries: the outbox does that, after a search for the message's marker.
 *
 * @example
 * const log: Sink = {
 *   name: 'log', timeoutMs: 1_000, accepts: () => true,
 *   async send({ body }) { console.log(body); return { deliveredTo: 'stdout' } },
 * }
 */
export interface Sink {
  /** Part of the key of its messages: must not change while messages are waiting. */
  readonly name: string;
  /** How long one request may take at most; a message is leased for six times that. */
  readonly timeoutMs: number;
  /** Whether this sink can write to the issue. */
  accepts(issueRef: string): boolean;
  /** Looks for a message that was sent before; missing if the sink cannot be searched. */
  find?(message: NewOutboxMessage, signal: AbortSignal): Promise<Delivery | undefined>;
  /** Looks up pull requests of the repository that an issue belongs to; only set for forges. */
  readonly pullRequests?: {
    /** The host of the pull requests that it can look up: `github.com`. */
    readonly host: string;
    /** Undefined if the repository has no such pull request. */
    find(issueRef: string, number: number, signal: AbortSignal): Promise<PullRequest | undefined>;
  };
  /** Throws a {@link SinkError} unless the message has arrived; if the caller aborted the signal, throws its reason. */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<Delivery>;
}

/** A message that is being sent. */
export interface OutgoingMessage extends NewOutboxMessage {
  /** The id of the installation that sends it. All processes that share a store are one installation. */
  readonly installation: string;
}

/** A pull or merge request, as its forge reports it. */
export interface PullRequest {
  /** The commit to be merged. */
  readonly head: string;
  readonly address: string;
  /** `owner/repo`, if the forge reports it. */
  readonly repository?: string;
}

/** A successful delivery. */
export interface Delivery {
  /** The URL or file of the comment, for people. */
  readonly deliveredTo: string;
}

/** Error codes of failed deliveries; `docs/errors.md` says what to do. */
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
 * A failed delivery. Unless the sink refused the message, it is unknown whether it arrived.
 *
 * @example
 * throw new SinkError('SINK_REFUSED', 'The issue does not exist.', { isPermanent: true })
 */
export class SinkError extends SluiceError<SinkErrorCode> {
  override readonly name = 'SinkError';
  /** A retry is useless until a person changes something. */
  readonly isPermanent: boolean;
  /** How long to wait, as requested by the sink. */
  readonly retryAfterMs: number | undefined;

  constructor(code: SinkErrorCode, message: string, details: SinkErrorDetails = {}) {
    super(code, message, details.cause === undefined ? undefined : { cause: details.cause });
    this.isPermanent = details.isPermanent ?? false;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/**
 * Throws the reason of an aborted signal if its caller aborted it. An expired `AbortSignal.timeout` is not thrown: a sink reports
 * that as `SINK_TIMED_OUT`.
 */
export function throwIfCanceled({ aborted, reason }: AbortSignal): void {
  if (aborted && !(reason instanceof DOMException && reason.name === 'TimeoutError')) throw reason;
}

interface SinkErrorDetails {
  readonly isPermanent?: boolean;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

const OPENING = '<!-- sluice:';

/**
 * Formats the hidden line by which a message is found again. The id in it cannot be guessed before it is published, so a
 * comment cannot be suppressed by writing its marker first.
 *
 * @example
 * formatMarker(message) // '<!-- sluice:workrun:2026-11-15-backend-0001 01KA3… -->'
 */
export function formatMarker({ trigger, id }: Pick<NewOutboxMessage, 'trigger' | 'id'>): string {
  return `${OPENING}${trigger} ${id} -->`;
}

/** Adds the marker to the body as the last line. Markers inside the text are changed so that no search finds them. */
export function withMarker(message: NewOutboxMessage): string {
  const body = message.body.replaceAll(OPENING, '<!- sluice:').trimEnd();
  return `${body}\n\n${formatMarker(message)}`;
}

/** Loads a package that users install only if they need it. The error says how to install it. */
export async function loadPeer<T>(packageName: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    throw new SluiceError(
      'PACKAGE_MISSING',
      `Cannot use this sink: the package "${packageName}" is not installed. Run "npm install ${packageName}".`,
      { cause: error },
    );
  }
}
