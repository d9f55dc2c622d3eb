import { SluiceError } from '../../base/index.js';
import type { NewOutboxMessage } from '../../records/index.js';

/**
 * Where comments go. A sink sends once and never repeats by itself: the outbox does that, after it has looked for the
 * message's marker.
 *
 * @example
 * const log: Sink = {
 *   name: 'log', timeoutMs: 1_000, accepts: () => true,
 *   async send({ body }) { console.log(body); return { deliveredTo: 'stdout' } },
 * }
 */
export interface Sink {
  /** Part of the key of its messages: must not change while any wait. */
  readonly name: string;
  /** How long one request may take at most; a message is leased for at least three times that. */
  readonly timeoutMs: number;
  /** Whether issues of this kind can be written to here. */
  accepts(issueRef: string): boolean;
  /** Looks for a message that was sent before; sinks that cannot be searched have none. */
  find?(message: NewOutboxMessage, signal: AbortSignal): Promise<Delivery | undefined>;
  /** Looks up pull requests of the repository that an issue belongs to; only forges can. */
  readonly pullRequests?: {
    /** Of the addresses it answers for: `github.com`. */
    readonly host: string;
    /** Undefined if the repository has no such pull request. */
    find(issueRef: string, number: number, signal: AbortSignal): Promise<PullRequest | undefined>;
  };
  /** Throws a {@link SinkError} unless the message has arrived. */
  send(message: NewOutboxMessage, signal: AbortSignal): Promise<Delivery>;
}

/** A pull or merge request, as its forge knows it. */
export interface PullRequest {
  /** The commit it asks to merge. */
  readonly head: string;
  readonly address: string;
  /** `owner/repo`, if the forge reports it. */
  readonly repository?: string;
}

/** That a message arrived, and where. */
export interface Delivery {
  /** An address or a file, for people. */
  readonly deliveredTo: string;
}

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

const OPENING = '<!-- sluice:';

/**
 * The hidden line by which a message is found again. The id in it cannot be guessed before it was published, so a comment
 * cannot be suppressed by writing its marker first.
 *
 * @example
 * formatMarker(message) // '<!-- sluice:workrun:2026-11-15-backend-0001 01KA3… -->'
 */
export function formatMarker({ trigger, id }: Pick<NewOutboxMessage, 'trigger' | 'id'>): string {
  return `${OPENING}${trigger} ${id} -->`;
}

/** The body with its marker as the last line; markers that the text itself contains are broken up. */
export function withMarker(message: NewOutboxMessage): string {
  const body = message.body.replaceAll(OPENING, '<!- sluice:').trimEnd();
  return `${body}\n\n${formatMarker(message)}`;
}

/** Loads a package that users install only if they need it, or says how to get it. */
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
