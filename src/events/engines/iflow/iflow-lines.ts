import type { StreamName } from '../../protocol/raw-ref.js';
import { readRetryLine } from '../gemini/retry-line.js';
import type { Retry } from '../gemini/retry-line.js';

/** What a line says of itself, by its wording alone. */
export type LineMeaning =
  | { readonly kind: 'resuming' | 'session'; readonly sessionId: string }
  | ({ readonly kind: 'retry' } & Retry)
  | { readonly kind: 'error'; readonly severity: 'warning' | 'error' };

const RESUMING = /^\s*Resuming session:?\s+["']?([\w-]{1,200})/u;
const SESSION = /^\s*"?session-id"?\s*[:=]\s*"?([\w-]{1,200})"?,?\s*$/u;
/** Nobody but iFlow begins a line like this, so it counts on either stream. */
const ENGINE_ERROR = /^(?:Error when talking to iFlow API|Generate data error|\[API Error: )/iu;
/** On stdout the agent itself may begin a line like this. */
const LOGGED_ERROR = /^\W{0,8}(?:Error\b|Uncaught\b|Unhandled\b|Failed to\b|Error executing tool\b|错误|失败)/iu;

/**
 * The regular expressions of the first layer; null if a line is nothing they know. iFlow shares its retry log with the
 * Gemini CLI, from which it was made.
 *
 * @example
 * readIflowLine('Resuming session session-1', 'stdout') // { kind: 'resuming', sessionId: 'session-1' }
 */
export function readIflowLine(text: string, stream: StreamName): LineMeaning | null {
  const resuming = RESUMING.exec(text)?.[1];
  if (resuming !== undefined) return { kind: 'resuming', sessionId: resuming };
  const session = SESSION.exec(text)?.[1];
  if (session !== undefined) return { kind: 'session', sessionId: session };
  const retry = readRetryLine(text);
  if (retry !== null) return { kind: 'retry', ...retry };
  if (ENGINE_ERROR.test(text)) return { kind: 'error', severity: 'error' };
  return stream === 'stderr' && LOGGED_ERROR.test(text) ? { kind: 'error', severity: 'warning' } : null;
}

/** The session in a block that cannot be read as JSON. */
export function findSessionId(text: string): string | null {
  return /"session-id"\s*:\s*"([\w-]{1,200})"/u.exec(text)?.[1] ?? null;
}
