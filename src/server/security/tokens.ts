import { createHash, timingSafeEqual } from 'node:crypto';
import type { Scope } from '../../api/index.js';
import type { Token } from '../../config/index.js';

/** Who asks, and what they may do. */
export interface Caller {
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
}

/** On loopback without tokens everyone on the machine may do everything. */
export const LOCAL_CALLER: Caller = { name: 'local', scopes: new Set(['none', 'read', 'run', 'decide']) };

/** Whoever has shown nothing. */
export const NOBODY: Caller = { name: 'anonymous', scopes: new Set(['none']) };

/** What the holder of a token may do. */
export function callerOf({ name, scopes }: Token): Caller {
  return { name, scopes: new Set<Scope>(['none', ...scopes]) };
}

/**
 * Finds whose token was sent. Every token is compared, each in constant time, so that the time tells nothing about how
 * much of which one was right.
 */
export function createTokenCheck(tokens: readonly Token[]): (sent: string) => Token | undefined {
  const known = tokens.map((token) => ({ token, digest: digestOf(token.value) }));
  return (sent) => {
    const digest = digestOf(sent);
    let found: Token | undefined;
    for (const entry of known) if (timingSafeEqual(entry.digest, digest)) found = entry.token;
    return found;
  };
}

/** Of equal length whatever was sent, as the comparison needs it. */
function digestOf(value: string): Buffer {
  return createHash('sha256').update(value).digest();
}
