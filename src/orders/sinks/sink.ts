import { SluiceError } from '../../base/index.js';
import type { NewOutboxMessage } from '../../store/records/index.js';

/** Sends a request of a forge's client. Not in `send-request.ts`, whose types need Node.js's: a sink's are public. */
export type ForgeFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * A target for comments. A sink sends once and never retries: the outbox does that, after looking up the message's
 * marker.
 *
 * @example
 * const log: Sink = {
 *   name: 'log', timeoutMs: 1_000, accepts: () => true,
 *   async send({ body }) { console.log(body); return { deliveredTo: 'stdout' } },
 * }
 */
export interface Sink {
  /** Part of its messages' keys: must not change while messages are waiting. */
  readonly name: string;
  /** The maximum duration of one request; a message is leased for six times that. */
  readonly timeoutMs: number;
  /** The language of its comments; English by default. */
  readonly language?: 'en' | 'zh';
  /** Whether this sink can write to the issue. */
  accepts(issueRef: string): boolean;
  /** Looks up a message that was sent before; missing if the sink is not searchable. */
  find?(message: NewOutboxMessage, signal: AbortSignal): Promise<Delivery | undefined>;
  /** Looks up pull requests in an issue's repository; only set for forges. */
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
  /** The comment's URL or file, for display. */
  readonly deliveredTo: string;
}

/** Error codes of failed deliveries; `docs/errors.md` explains what to do. */
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
  /** A retry is useless until someone changes something. */
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
 * Throws an aborted signal's reason if the caller aborted it. An expired `AbortSignal.timeout` is not thrown: a sink
 * reports that as `SINK_TIMED_OUT`.
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
 * Formats the hidden line that identifies a sent message. Its id cannot be guessed before it is published, so a comment
 * cannot be suppressed by writing its marker first.
 */
export function formatMarker({ trigger, id }: Pick<NewOutboxMessage, 'trigger' | 'id'>): string {
  return `${OPENING}${trigger} ${id} -->`;
}

/** Adds the marker to the body as the last line. Markers inside the body are altered so no lookup finds them. */
export function withMarker(message: NewOutboxMessage): string {
  const body = message.body.replaceAll(OPENING, '<!- sluice:').trimEnd();
  return `${body}\n\n${formatMarker(message)}`;
}

/** Loads an optional package. The error explains how to install it. */
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
