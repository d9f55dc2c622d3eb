import type { Duplex } from 'node:stream';
import { type IncomingMessage, type ServerResponse, createServer, request as requestHttp } from 'node:http';
import { connect, isIP } from 'node:net';
import { lookup } from 'node:dns/promises';
import { listsLoopback, normalizeHost, readHostList, isPrivateAddress, type HostList } from './host-list.js';

/** A denied connection from a sandboxed process. */
export interface DeniedHost {
  /** `host:port`. */
  readonly host: string;
  readonly reason: 'not listed' | 'its address is private' | 'unknown host';
}

/** A proxy for the processes in one sandbox. */
export type Proxy = Awaited<ReturnType<typeof openProxy>>;

const MAX_CONNECTIONS = 256;
const CONNECT_MS = 30_000;
/** A model can think for a long time without sending a byte. */
const IDLE_MS = 30 * 60_000;
const HEADER_MS = 30_000;
const MAX_PORT = 65_535;
/** The maximum length of a reported host name; no valid name is longer. */
const MAX_HOST_LENGTH = 255;

/** Header fields that apply to one connection only. */
const HOP_FIELDS = ['proxy-authorization', 'proxy-connection', 'connection', 'keep-alive', 'te', 'trailer', 'upgrade'];

/**
 * Listens on a socket for HTTP requests and tunnels (CONNECT), and forwards them only to listed hosts. Names are
 * resolved here, and an address in the local network is rejected unless the address and the port are listed themselves,
 * or the host is a listed `localhost`.
 *
 * @example
 * const proxy = await openProxy('/run/me/proxy.sock', { hosts: ['api.openai.com'], onDenied: ({ host }) => log(host) });
 */
export async function openProxy(
  socketPath: string,
  options: {
    readonly hosts: readonly string[];
    readonly onDenied: (denied: DeniedHost) => void;
    /** Resolves a name; the system's resolver by default. */
    readonly resolve?: (host: string) => Promise<readonly string[]>;
  },
) {
  const hosts = readHostList(options.hosts);
  const resolve = options.resolve ?? resolveName;
  const open = new Set<Duplex>();
  const track = (stream: Duplex): void => {
    open.add(stream);
    stream.once('close', () => open.delete(stream));
    stream.on('error', () => stream.destroy());
  };
  const server = createServer({ headersTimeout: HEADER_MS, requestTimeout: 0 }, (request, response) => {
    forwardRequest(request, response).catch(() => response.destroy());
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('connection', track);
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    tunnel(request.url ?? '', client, head).catch(() => client.destroy());
  });

  async function choose(host: string, port: number): Promise<Choice> {
    const choice = await chooseAddress(hosts, resolve, host, port);
    if ('reason' in choice) {
      options.onDenied({ host: `${host.slice(0, MAX_HOST_LENGTH)}:${port}`, reason: choice.reason });
    }
    return choice;
  }

  async function tunnel(authority: string, client: Duplex, head: Buffer): Promise<void> {
    const { hostname, port } = readAuthority(authority);
    const choice = await choose(hostname, port);
    if ('reason' in choice) {
      client.end(
        `HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\nX-Sluice-Reason: ${choice.reason}\r\n\r\n`,
      );
      return;
    }
    // It disconnected during the name lookup.
    if (client.destroyed) return;
    const upstream = connect({ host: choice.address, port });
    track(upstream);
    upstream.setTimeout(IDLE_MS, () => upstream.destroy());
    const timer = setTimeout(() => upstream.destroy(new Error('connection timed out')), CONNECT_MS);
    upstream.once('close', () => clearTimeout(timer));
    upstream.once('connect', () => {
      clearTimeout(timer);
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      upstream.write(head);
      client.pipe(upstream).pipe(client);
    });
    upstream.once('error', () => client.destroy());
    upstream.once('close', () => client.destroy());
    client.once('close', () => upstream.destroy());
  }

  async function forwardRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = URL.canParse(request.url ?? '') ? new URL(request.url ?? '') : undefined;
    if (url?.protocol !== 'http:') {
      response.writeHead(400).end();
      return;
    }
    const port = Number(url.port === '' ? 80 : url.port);
    const choice = await choose(url.hostname, port);
    if ('reason' in choice) {
      response.writeHead(403, { 'x-sluice-reason': choice.reason }).end();
      return;
    }
    if (response.destroyed) return;
    const fields = Object.entries(request.headers).filter(([name]) => !HOP_FIELDS.includes(name));
    const headers = { ...Object.fromEntries(fields), host: url.host };
    const path = `${url.pathname}${url.search}`;
    const { method = 'GET' } = request;
    const upstream = requestHttp({ host: choice.address, port, method, path, headers, agent: false });
    upstream.setTimeout(IDLE_MS, () => upstream.destroy());
    upstream.once('response', (incoming) => {
      incoming.once('error', () => response.destroy());
      try {
        response.writeHead(incoming.statusCode ?? 502, incoming.headers);
      } catch {
        // Node.js accepts some status codes and headers that it refuses to write.
        response.destroy();
        return;
      }
      incoming.pipe(response);
    });
    upstream.once('error', () => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    });
    response.once('close', () => upstream.destroy());
    request.pipe(upstream);
  }

  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(socketPath, done);
  });
  return {
    async close(): Promise<void> {
      const closed = new Promise<void>((done) => {
        server.close(() => done());
      });
      for (const stream of open) stream.destroy();
      await closed;
    },
  };
}

function readAuthority(authority: string): { readonly hostname: string; readonly port: number } {
  const match = /^(\[[^\]]*\]|[^:]*):(\d{1,5})$/.exec(authority);
  const port = Number(match?.[2] ?? 0);
  // No host is listed with port 0, so an invalid port is denied.
  return { hostname: (match?.[1] ?? '').replace(/^\[|\]$/g, ''), port: port > MAX_PORT ? 0 : port };
}

type Choice = { readonly address: string } | Pick<DeniedHost, 'reason'>;

/** Returns the address to connect to, or why the connection is denied. */
async function chooseAddress(
  hosts: HostList,
  resolve: (host: string) => Promise<readonly string[]>,
  host: string,
  port: number,
): Promise<Choice> {
  const bare = host.replace(/^\[|\]$/g, '');
  if (!hosts.allows(bare, port)) return { reason: 'not listed' };
  if (isIP(bare) !== 0) return { address: bare };
  const addresses = await resolve(bare).catch(() => []);
  const [first] = addresses;
  if (first === undefined) return { reason: 'unknown host' };
  if (normalizeHost(bare) === 'localhost') return { address: first };
  // All addresses are checked: a private address among public ones is a sign of an attack.
  const isPrivate = addresses.some((address) => isPrivateAddress(address) && !hosts.allows(address, port));
  return isPrivate ? { reason: 'its address is private' } : { address: first };
}

async function resolveName(host: string): Promise<readonly string[]> {
  const addresses = await lookup(host, { all: true });
  return addresses.map(({ address }) => address);
}

/** The proxy's socket inside the sandbox. */
export const PROXY_SOCKET = '/run/sluice/proxy.sock';

/** The proxy's port inside the sandbox; nothing else listens in its network namespace. */
const PROXY_PORT = 3128;

/**
 * Returns the arguments of Node.js that start the agent's command, which follows them. Its script is a string because
 * Sluice's own files do not exist inside the sandbox. It forwards connections from loopback to the proxy's socket, and
 * starts the agent once it is listening. It exits with the agent's exit code, and ignores signals if they reach the agent
 * too; otherwise it passes them on (`passesSignals`).
 */
export function createForwarder({ passesSignals }: { readonly passesSignals: boolean }): readonly string[] {
  const script = `
const net = process.getBuiltinModule('node:net');
const { constants } = process.getBuiltinModule('node:os');
const { spawn } = process.getBuiltinModule('node:child_process');
const [program, ...args] = process.argv.slice(1);
let child;
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => ${passesSignals} && child?.kill(signal));
const server = net.createServer({ allowHalfOpen: true }, (inner) => {
  const outer = net.connect({ path: '${PROXY_SOCKET}', allowHalfOpen: true });
  const end = () => { inner.destroy(); outer.destroy(); };
  inner.on('error', end);
  outer.on('error', end);
  inner.pipe(outer);
  outer.pipe(inner);
});
server.maxConnections = 256;
server.listen(${PROXY_PORT}, '127.0.0.1', () => {
  child = spawn(program, args, { stdio: 'inherit' });
  child.on('error', (error) => {
    process.stderr.write('Cannot launch "' + program + '": ' + error.message + '\\n');
    process.exit(127);
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
});
`;
  return ['-e', script, '--'];
}

/**
 * Returns the variables that make processes use the proxy. Processes that ignore them have no network. If loopback
 * addresses are listed, they also go through the proxy, to the host; otherwise they stay inside the sandbox.
 */
export function createProxyEnvironment(hosts: readonly string[]): Readonly<Record<string, string>> {
  const proxy = `http://127.0.0.1:${PROXY_PORT}`;
  const direct = listsLoopback(hosts) ? '' : 'localhost,127.0.0.1,::1';
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    NO_PROXY: direct,
    no_proxy: direct,
    // Node.js (since 22.21 and 24.0) uses the proxy only if this is set.
    NODE_USE_ENV_PROXY: '1',
  };
}
