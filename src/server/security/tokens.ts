import { createHash, timingSafeEqual } from 'node:crypto';
import type { Scope } from '../api/index.js';
import type { Token } from '../config/index.js';

/** The caller of a request and its scopes. */
export interface Caller {
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
}

/** The caller on loopback without tokens: everything is allowed. */
export const LOCAL_CALLER: Caller = { name: 'local', scopes: new Set(['none', 'read', 'run', 'decide']) };

/** A caller without a token, on loopback, if reading needs no token. */
export const READER: Caller = { name: 'anonymous', scopes: new Set(['none', 'read']) };

/** A caller without a token. */
export const ANONYMOUS: Caller = { name: 'anonymous', scopes: new Set(['none']) };

/** Returns the caller that a token represents. */
export function toCaller({ name, scopes }: Token): Caller {
  return { name, scopes: new Set<Scope>(['none', ...scopes]) };
}

/**
 * Creates a function that finds a token by its value. All tokens are compared, each in constant time, so timing reveals
 * nothing.
 */
export function createTokenCheck(tokens: readonly Token[]): (sent: string) => Token | undefined {
  const hashedTokens = tokens.map((token) => ({ token, digest: hashToken(token.value) }));
  return (sent) => {
    const digest = hashToken(sent);
    let found: Token | undefined;
    for (const entry of hashedTokens) if (timingSafeEqual(entry.digest, digest)) found = entry.token;
    return found;
  };
}

/** Hashes a token: the comparison requires values of equal length. */
function hashToken(value: string): Buffer {
  return createHash('sha256').update(value).digest();
}
