import type { Context } from 'hono';
import type { Endpoint } from '../../api/index.js';
import { headerOf } from '../header-of.js';
import { incomingOf } from '../incoming-of.js';
import { RequestError } from '../request-error.js';
import type { ServerSettings } from '../server-settings.js';
import { isLoopback, nameInHost } from './address.js';
import { isForeignPage } from './origin.js';
import { createRateLimit } from './rate-limit.js';
import { createSessions } from './sessions.js';
import { callerOf, createTokenCheck, LOCAL_CALLER, NOBODY } from './tokens.js';
import type { Caller } from './tokens.js';

/** Decides who is let in. */
export interface Guard {
  /** Who asks; throws if they may not ask this, or not so often. */
  admit(context: Context, endpoint: Pick<Endpoint, 'method' | 'scope'>): Caller;
  /** Throws unless the server was asked under one of its own names. */
  checkHost(context: Context): void;
  /** Trades a token for a cookie. */
  openSession(context: Context, token: string): { readonly caller: Caller; readonly cookie: string };
  /** The header that ends a session. */
  closeSession(): string;
}

/** Where the guard stands. */
export interface GuardPost {
  readonly settings: ServerSettings;
  /** The address the server listens on. */
  readonly host: string;
  readonly clock: () => number;
}

/** Makes the guard of a server. */
export function createGuard({ settings, host, clock }: GuardPost): Guard {
  const { tokens, hosts, origins, https, limits } = settings;
  const findToken = createTokenCheck(tokens);
  const sessions = createSessions(tokens, { https, clock });
  const requests = createRateLimit({ perMinute: limits.requestsPerMinute, clock });
  const strangers = createRateLimit({ perMinute: limits.requestsPerMinute, clock });
  const refusals = createRateLimit({ perMinute: limits.refusalsPerMinute, clock });
  const names = new Set(hosts.map((name) => name.toLowerCase()));
  // Elsewhere a token is needed, which a page that was led here by a forged name does not have.
  const takesAnyName = !isLoopback(host) && names.size === 0;

  /** Most callers use one name. */
  let lastAccepted: string | undefined;

  function checkHost(context: Context): void {
    const asked = headerOf(context, 'host') ?? new URL(context.req.url).host;
    if (takesAnyName || asked === lastAccepted) return;
    const name = nameInHost(asked);
    if (isLoopback(name) || names.has(name)) {
      lastAccepted = asked;
      return;
    }
    throw new RequestError(
      'HOST_REFUSED',
      'The server does not go by this name; `hosts` of the configuration adds names.',
    );
  }

  /** Wrong ones are counted by address, and a guesser is not heard any more. */
  function checkToken(context: Context, sent: string): (typeof tokens)[number] {
    const address = addressOf(context);
    if (!refusals.isOpen(address)) throw tooMany('Too many wrong tokens came from your address.');
    const token = findToken(sent);
    if (token !== undefined) return token;
    refusals.take(address);
    throw new RequestError('TOKEN_REFUSED', 'This is none of the tokens of the configuration. Send one of them.');
  }

  function identify(context: Context): { readonly caller: Caller; readonly isAmbient: boolean } {
    if (tokens.length === 0) return { caller: LOCAL_CALLER, isAmbient: true };
    const authorization = headerOf(context, 'authorization');
    if (authorization !== undefined) {
      const sent = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? '';
      return { caller: callerOf(checkToken(context, sent)), isAmbient: false };
    }
    const caller = sessions.read(headerOf(context, 'cookie') ?? '');
    return { caller: caller ?? NOBODY, isAmbient: true };
  }

  function refuseForeignPage(context: Context): void {
    const page = {
      host: headerOf(context, 'host'),
      origin: headerOf(context, 'origin'),
      site: headerOf(context, 'sec-fetch-site'),
    };
    if (isForeignPage(page, origins)) {
      throw new RequestError(
        'ORIGIN_REFUSED',
        'A page of another site asked. `origins` of the configuration adds sites.',
      );
    }
  }

  return {
    checkHost,
    admit(context, { method, scope }) {
      checkHost(context);
      const { caller, isAmbient } = identify(context);
      // Whoever only has to be there, or to carry a cookie, may be a page that was not asked by its reader.
      if (isAmbient && (method !== 'GET' || scope !== 'none')) refuseForeignPage(context);
      const mayAsk = caller === NOBODY ? strangers.take(addressOf(context)) : requests.take(caller.name);
      if (!mayAsk) throw tooMany('You ask too often.');
      if (caller.scopes.has(scope)) return caller;
      if (caller === NOBODY) {
        throw new RequestError('TOKEN_REFUSED', 'Send a token of the configuration as Authorization: Bearer.');
      }
      throw new RequestError(
        'SCOPE_MISSING',
        `The token ${caller.name} lacks the scope ${scope}. Use another, or add the scope in the configuration.`,
      );
    },
    openSession(context, sent) {
      const token = checkToken(context, sent);
      return { caller: callerOf(token), cookie: sessions.open(token) };
    },
    closeSession: () => sessions.close(),
  };
}

function tooMany(what: string): RequestError {
  return new RequestError('TOO_MANY_REQUESTS', `${what} Wait a minute.`);
}

/** Absent where there is no connection. */
function addressOf(context: Context): string {
  return incomingOf(context)?.socket.remoteAddress ?? 'unknown';
}
