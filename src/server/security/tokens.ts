import { createHash, timingSafeEqual, createHmac } from 'node:crypto';
import { getSessionCookieName, type Scope } from '../api/index.js';
import type { Token } from '../config/index.js';

export interface Caller {
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly isRun?: boolean;
}

/** The caller on loopback without tokens: everything is allowed. */
export const LOCAL_CALLER: Caller = { name: 'local', scopes: new Set(['none', 'read', 'run', 'decide']) };

/** A caller without a token, on loopback, if reading needs no token. */
export const READER: Caller = { name: 'anonymous', scopes: new Set(['none', 'read']) };

/** A caller without a token. */
export const ANONYMOUS: Caller = { name: 'anonymous', scopes: new Set(['none']) };

export function toCaller({ name, scopes }: Token): Caller {
  return { name, scopes: new Set<Scope>(['none', ...scopes]) };
}

/** Creates a function that finds a token. All are compared, each in constant time, so timing reveals nothing. */
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

/** The lifetime of a session: a working day. */
const SESSION_MS = 12 * 60 * 60 * 1000;

/**
 * Creates sessions, which are not stored: for pages and EventSource, a cookie contains the token's name and expiry time, signed with a key derived
 * from the token. Every server with the same tokens accepts it, and it becomes invalid when its token is changed or
 * removed.
 */
export function createSessions(
  tokens: readonly Token[],
  { https, clock }: { readonly https: boolean; readonly clock: () => number },
) {
  const cookie = getSessionCookieName(https);
  const attributes = `HttpOnly; SameSite=Strict; Path=/${https ? '; Secure' : ''}`;
  const pattern = new RegExp(`(?:^|;)\\s*${cookie}=([\\w-]{1,400})\\.(\\d{1,15})\\.([\\w-]{43})\\s*(?:;|$)`);
  const signatures = createSignatures(tokens, 'sluice session key');
  const callers = new Map(tokens.map((token) => [token.name, toCaller(token)]));

  return {
    /** Returns the `Set-Cookie` header that opens a session. */
    open(token: Token) {
      const value = signatures.sign(token, String(clock() + SESSION_MS));
      return `${cookie}=${value}; Max-Age=${SESSION_MS / 1000}; ${attributes}`;
    },
    close: () => `${cookie}=; Max-Age=0; ${attributes}`,
    /** Returns the caller that the `Cookie` header identifies. */
    read(cookies: string): Caller | undefined {
      const [, name = '', expiresAt = '', signature = ''] = pattern.exec(cookies) ?? [];
      const token = Number(expiresAt) > clock() ? signatures.read(name, expiresAt, signature) : undefined;
      return token === undefined ? undefined : callers.get(token.name);
    },
  };
}

/**
 * Signs text on behalf of tokens, as `NAME.TEXT.SIGNATURE`. Each purpose has its own keys, which are derived from the
 * tokens, so nothing has to be stored.
 */
export function createSignatures(tokens: readonly Token[], purpose: string) {
  const signers = new Map(
    tokens.map((token) => [token.name, { token, key: createHmac('sha256', token.value).update(purpose).digest() }]),
  );
  const compute = (name: string, signed: string): Buffer | undefined => {
    const { key } = signers.get(name) ?? {};
    return key === undefined ? undefined : createHmac('sha256', key).update(signed).digest();
  };
  return {
    sign({ name }: Token, text: string): string {
      const signed = `${Buffer.from(name).toString('base64url')}.${text}`;
      return `${signed}.${compute(name, signed)?.toString('base64url')}`;
    },
    /** Returns the token that the text was signed for; undefined if the signature is wrong. */
    read(encodedName: string, text: string, signature: string): Token | undefined {
      const name = Buffer.from(encodedName, 'base64url').toString();
      const expected = compute(name, `${encodedName}.${text}`);
      const sent = Buffer.from(signature, 'base64url');
      const isSigned = sent.length === expected?.length && timingSafeEqual(sent, expected);
      return isSigned ? signers.get(name)?.token : undefined;
    },
  };
}
