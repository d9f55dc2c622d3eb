import type { Context } from 'hono';
import type { Endpoint } from '../../api/index.js';
import { readHeader, readIncomingMessage } from '../http/read-request.js';
import { RequestError } from '../http/problem.js';
import type { Token } from '../../config/index.js';
import type { ServerSettings } from '../server-settings.js';
import { groupAddress, isLoopback, nameInHost, isCrossSite } from './origin.js';
import { createRateLimit } from './rate-limit.js';
import { createSessions } from './sessions.js';
import { readCaller, createTokenCheck, LOCAL_CALLER, ANONYMOUS, READER } from './tokens.js';
import type { Caller } from './tokens.js';

/** The requested endpoint. */
interface GuardedEndpoint extends Pick<Endpoint, 'method' | 'scope'> {
  /** Whether pages of other origins are refused even with a token. */
  readonly checksOrigin?: boolean;
}

/** Decides which requests are admitted. */
export interface Guard {
  /** The caller; throws if it lacks the scope or exceeds its rate limit. */
  admit(context: Context, endpoint: GuardedEndpoint): Caller;
  /** Throws unless the Host header is one of the server's names. */
  checkHost(context: Context): void;
  /** Exchanges a token for a cookie. */
  openSession(context: Context, token: string): { readonly caller: Caller; readonly cookie: string };
  /** The `Set-Cookie` header that ends a session. */
  closeSession(): string;
  /** From now on only these tokens count; sessions of others are over. */
  replaceTokens(tokens: readonly Token[]): void;
}

interface GuardPost {
  readonly settings: ServerSettings;
  /** The address the server listens on. */
  readonly host: string;
  readonly clock: () => number;
}

/** Creates the guard of a server. */
export function createGuard({ settings, host, clock }: GuardPost): Guard {
  const { hosts, origins, https, limits, openRead = false } = settings;
  const indexTokens = (tokens: readonly Token[]) => ({
    isEmpty: tokens.length === 0,
    find: createTokenCheck(tokens),
    sessions: createSessions(tokens, { https, clock }),
  });
  let known = indexTokens(settings.tokens);
  const stranger = openRead ? READER : ANONYMOUS;
  const requests = createRateLimit({ perMinute: limits.requestsPerMinute, clock });
  const anonymousRequests = createRateLimit({ perMinute: limits.requestsPerMinute, clock });
  const refusals = createRateLimit({ perMinute: limits.refusalsPerMinute, clock });
  const names = new Set(hosts.map((name) => name.toLowerCase()));
  // Other addresses need a token, which a page behind a forged DNS name does not have.
  const acceptsAnyHost = !isLoopback(host) && names.size === 0;

  /** Most callers use one host name. */
  let lastAccepted: string | undefined;

  function checkHost(context: Context): void {
    const asked = readHeader(context, 'host') ?? new URL(context.req.url).host;
    if (acceptsAnyHost || asked === lastAccepted) return;
    const name = nameInHost(asked);
    if (isLoopback(name) || names.has(name)) {
      lastAccepted = asked;
      return;
    }
    throw new RequestError(
      'HOST_REFUSED',
      'The Host header is not a name of this server. Add the name to "server.hosts" in the configuration.',
    );
  }

  /** Failed attempts are counted by address: guessing is slow, and seen in the log. */
  function checkToken(context: Context, sent: string): Token {
    const token = known.find(sent);
    // A valid token is never refused: otherwise an attacker could lock out others with the same address.
    if (token !== undefined) return token;
    if (!refusals.take(readAddress(context))) throw tooMany('Too many failed attempts from this address.');
    throw new RequestError('TOKEN_REFUSED', 'Invalid token. Use a token from the configuration.');
  }

  function identify(context: Context): { readonly caller: Caller; readonly isAmbient: boolean } {
    if (known.isEmpty) return { caller: LOCAL_CALLER, isAmbient: true };
    const authorization = readHeader(context, 'authorization');
    if (authorization !== undefined) {
      const sent = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? '';
      return { caller: readCaller(checkToken(context, sent)), isAmbient: false };
    }
    const caller = known.sessions.read(readHeader(context, 'cookie') ?? '');
    return { caller: caller ?? stranger, isAmbient: true };
  }

  function refuseCrossSite(context: Context): void {
    const page = {
      host: readHeader(context, 'host'),
      origin: readHeader(context, 'origin'),
      site: readHeader(context, 'sec-fetch-site'),
    };
    if (isCrossSite(page, origins)) {
      throw new RequestError(
        'ORIGIN_REFUSED',
        'Requests from pages of this origin are not allowed. Add the origin to "server.origins" in the configuration.',
      );
    }
  }

  return {
    checkHost,
    admit(context, { method, scope, checksOrigin = false }) {
      checkHost(context);
      const { caller, isAmbient } = identify(context);
      // Without an explicit token the request may come from a page that acts on its own.
      if (checksOrigin || (isAmbient && (method !== 'GET' || scope !== 'none'))) refuseCrossSite(context);
      const isAllowed = caller === stranger ? anonymousRequests.take(readAddress(context)) : requests.take(caller.name);
      if (!isAllowed) throw tooMany('Rate limit exceeded.');
      if (caller.scopes.has(scope)) return caller;
      if (caller === stranger) {
        const where = openRead ? ' "sluice serve" prints it at its start, and "sluice token" shows it.' : '';
        throw new RequestError(
          'TOKEN_REFUSED',
          `A token is required. Send it as "Authorization: Bearer <token>".${where}`,
        );
      }
      throw new RequestError(
        'SCOPE_MISSING',
        `The token "${caller.name}" lacks the scope "${scope}". Use another token, or add the scope in the configuration.`,
      );
    },
    openSession(context, sent) {
      const token = checkToken(context, sent);
      return { caller: readCaller(token), cookie: known.sessions.open(token) };
    },
    closeSession: () => known.sessions.close(),
    replaceTokens(tokens) {
      // Without any tokens everyone would be admitted: for that, create a server without this guard.
      if (tokens.length > 0) known = indexTokens(tokens);
    },
  };
}

function tooMany(what: string): RequestError {
  return new RequestError('TOO_MANY_REQUESTS', `${what} Try again in a minute.`);
}

/** The group of the caller's address; `unknown` where there is no connection. */
function readAddress(context: Context): string {
  return groupAddress(readIncomingMessage(context)?.socket.remoteAddress);
}
