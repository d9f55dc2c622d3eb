import { isIP } from 'node:net';
import { createHash, randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import type { Endpoint, Scope } from '../api/index.js';
import { readIncomingMessage } from '../http/read-request.js';
import { RequestError } from '../http/problem.js';
import type { Token } from '../config/index.js';
import type { ServerSettings, TokenSettings } from '../server-settings.js';
import { groupAddress, isLoopback, readHostName, isCrossSite } from './origin.js';
import { createRateLimit } from './rate-limit.js';
import {
  createSessions,
  createSignatures,
  toCaller,
  createTokenCheck,
  LOCAL_CALLER,
  ANONYMOUS,
  READER,
} from './tokens.js';
import type { Caller } from './tokens.js';

export type Guard = ReturnType<typeof createGuard>;

interface GuardOptions {
  readonly settings: ServerSettings;
  readonly host: string;
  readonly clock: () => number;
}

export function createGuard({ settings, host, clock }: GuardOptions) {
  const { hosts, origins, https, limits } = settings;
  const indexTokens = ({ tokens, openRead = false }: TokenSettings) => ({
    isEmpty: tokens.length === 0,
    names: tokens.map(({ name, scopes }) => ({ name, scopes })),
    openRead,
    anonymous: openRead ? READER : ANONYMOUS,
    find: createTokenCheck(tokens),
    runTokens: createRunTokens(tokens.filter(({ scopes }) => scopes.includes('worker'))),
    sessions: createSessions(tokens, { https, clock }),
  });
  let tokenIndex = indexTokens(settings);
  const requests = createRateLimit({ perMinute: limits.requestsPerMinute, clock });
  const anonymousRequests = createRateLimit({ perMinute: limits.requestsPerMinute, clock });
  const refusals = createRateLimit({ perMinute: limits.refusalsPerMinute, clock });
  const ownName = isIP(host) === 6 ? `[${host}]` : host;
  const names = new Set([ownName, ...hosts].map((name) => name.toLowerCase()));
  // Addresses other than loopback need a token, which a page with a forged DNS name does not have.
  const acceptsAnyHost = !isLoopback(host) && hosts.length === 0;

  /** The last accepted Host header: most callers use the same one, so it is not parsed again. */
  let lastAccepted: string | undefined;

  function checkHost(context: Context): void {
    const target = context.req.url.split('/', 3)[2] ?? '';
    const requested = context.req.header('host') ?? target;
    if (acceptsAnyHost || (requested === lastAccepted && target === requested)) return;
    // A request for an absolute address names its host twice (RFC 9112, 3.2.2).
    if ([requested, target].map(readHostName).every((name) => isLoopback(name) || names.has(name))) {
      lastAccepted = requested;
      return;
    }
    throw new RequestError(
      'HOST_REFUSED',
      'The Host header is not a name of this server. Add the name to "server.hosts" in the configuration.',
    );
  }

  /** Finds a token. Failed attempts are limited by address, so guessing is slow and visible in the log. */
  function checkToken(context: Context, sentToken: string): Token {
    const token = tokenIndex.find(sentToken);
    // A valid token is never refused: otherwise an attacker could lock out others with the same address.
    if (token !== undefined) return token;
    if (!refusals.take(readAddress(context)))
      throw new RequestError('TOO_MANY_REQUESTS', 'Too many failed attempts from this address. Try again in a minute.');
    throw new RequestError('TOKEN_REFUSED', 'Invalid token. Use a token from the configuration.');
  }

  /** Finds the caller. `isAmbient`: without an explicit token, another site's page might have caused the request. */
  function identify(context: Context): { readonly caller: Caller; readonly isAmbient: boolean } {
    if (tokenIndex.isEmpty) return { caller: LOCAL_CALLER, isAmbient: true };
    const authorization = context.req.header('authorization');
    if (authorization !== undefined) {
      const sentToken = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? '';
      const caller = tokenIndex.runTokens.find(sentToken) ?? toCaller(checkToken(context, sentToken));
      return { caller, isAmbient: false };
    }
    const caller = tokenIndex.sessions.read(context.req.header('cookie') ?? '');
    return { caller: caller ?? tokenIndex.anonymous, isAmbient: true };
  }

  function refuseCrossSite(context: Context): void {
    const page = {
      host: context.req.header('host'),
      origin: context.req.header('origin'),
      site: context.req.header('sec-fetch-site'),
    };
    if (isCrossSite(page, origins)) {
      throw new RequestError(
        'ORIGIN_REFUSED',
        'Requests from pages of this origin are not allowed. Add the origin to "server.origins" in the configuration.',
      );
    }
  }

  return {
    /** Throws if the Host header is not one of the server's names. */
    checkHost,
    checkScope,
    /** Returns the caller; throws if it lacks the scope or exceeds its rate limit. The host was checked before. */
    admit(context: Context, { method, scope, checksOrigin = false }: Endpoint): Caller {
      const { caller, isAmbient } = identify(context);
      const { anonymous, openRead } = tokenIndex;
      // Without an explicit token, the request might come from another site's page.
      if (checksOrigin || (isAmbient && (method !== 'GET' || scope !== 'none'))) refuseCrossSite(context);
      const isAllowed =
        caller === anonymous ? anonymousRequests.take(readAddress(context)) : requests.take(caller.name);
      if (!isAllowed) throw new RequestError('TOO_MANY_REQUESTS', 'Rate limit exceeded. Try again in a minute.');
      if (caller === anonymous && !caller.scopes.has(scope)) {
        const hint = openRead ? ' "sluice serve" prints it when it starts, and "sluice token" shows it.' : '';
        throw new RequestError(
          'TOKEN_REFUSED',
          `A token is required. Send it as "Authorization: Bearer <token>".${hint}`,
        );
      }
      checkScope(caller, scope);
      return caller;
    },
    openSession(context: Context, sentToken: string): { readonly caller: Caller; readonly cookie: string } {
      const token = checkToken(context, sentToken);
      return { caller: toCaller(token), cookie: tokenIndex.sessions.open(token) };
    },
    /** Returns the `Set-Cookie` header that ends a session. */
    closeSession: (): string => tokenIndex.sessions.close(),
    /** Replaces the accepted tokens, and whether reading needs one. Sessions of removed tokens end. */
    replaceTokens(replacement: TokenSettings) {
      // An empty list would admit everyone, so it is ignored.
      if (replacement.tokens.length > 0) tokenIndex = indexTokens(replacement);
    },
    /** Creates a token for one run, on behalf of a token with the scope `worker`; by default of the first. */
    createRunToken(name?: string) {
      const created = tokenIndex.runTokens.create(name);
      if (created !== undefined) return created;
      throw new RequestError('SCOPE_MISSING', 'No token has the scope "worker". Add one to the setting "tokens".');
    },
    /** Whether tokens are configured. The token that a server creates for its user does not count. */
    hasConfiguredTokens: (): boolean => !tokenIndex.isEmpty && !tokenIndex.openRead,
    /** Lists the accepted tokens, without their values. */
    listTokens: (): readonly Pick<Token, 'name' | 'scopes'>[] => tokenIndex.names,
  };
}

function checkScope({ name, scopes }: Caller, scope: Scope): void {
  if (scopes.has(scope)) return;
  throw new RequestError(
    'SCOPE_MISSING',
    `The token "${name}" lacks the scope "${scope}". Use another token, or add the scope to it in the setting "tokens".`,
  );
}

/** Returns the group of the caller's address; `unknown` if there is no connection. */
function readAddress(context: Context): string {
  return groupAddress(readIncomingMessage(context)?.socket.remoteAddress);
}

const RUN_TOKEN = /^slr_(?<name>[\w-]{1,400})\.(?<random>[\w-]{43})\.(?<signature>[\w-]{43})$/;

/**
 * Creates and finds tokens for one run, on behalf of the given tokens. The claim's worker id is the hash of the token, so
 * it ends with its claim and nothing has to be stored. It is signed, so that a forged one is refused without asking the
 * store.
 */
function createRunTokens(parents: readonly Token[]) {
  const signatures = createSignatures(parents, 'sluice run token');
  return {
    create(name: string | undefined) {
      const parent = parents.find((token) => name === undefined || token.name === name);
      if (parent === undefined) return undefined;
      const token = `slr_${signatures.sign(parent, randomBytes(32).toString('base64url'))}`;
      return { token, workerId: hashRunToken(token) };
    },
    find(sent: string): Caller | undefined {
      const { name = '', random = '', signature = '' } = RUN_TOKEN.exec(sent)?.groups ?? {};
      if (signatures.read(name, random, signature) === undefined) return undefined;
      return { name: hashRunToken(sent), scopes: new Set(['none', 'worker']), isRun: true };
    },
  };
}

function hashRunToken(token: string): string {
  return `run:${createHash('sha256').update(token).digest('hex')}`;
}
