import { createHash, timingSafeEqual } from 'node:crypto';
import type { Scope } from '../../api/endpoint.js';

/** A named key. The name is who decided. */
export interface Token {
  readonly name: string;
  readonly scopes: readonly Exclude<Scope, 'none'>[];
  readonly value: string;
}

/** Who asks, and what they may do. */
export interface Caller {
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
}

/** On loopback without tokens everyone on the machine may do everything. */
export const LOCAL_CALLER: Caller = { name: 'local', scopes: new Set(['none', 'read', 'run', 'decide']) };

/**
 * Finds whose token was sent. Every token is compared, each in constant time, so that the time tells nothing about how
 * much of which one was right.
 */
export function createTokenCheck(tokens: readonly Token[]): (sent: string) => Caller | undefined {
  const known = tokens.map(({ name, scopes, value }) => ({
    digest: digestOf(value),
    caller: { name, scopes: new Set<Scope>(['none', ...scopes]) },
  }));
  return (sent) => {
    const digest = digestOf(sent);
    let found: Caller | undefined;
    for (const entry of known) if (timingSafeEqual(entry.digest, digest)) found = entry.caller;
    return found;
  };
}

/** Of equal length whatever was sent, as the comparison needs it. */
function digestOf(value: string): Buffer {
  return createHash('sha256').update(value).digest();
}
