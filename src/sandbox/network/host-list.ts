import { isIP } from 'node:net';

/** Ports of a host that is listed without a port. */
const DEFAULT_PORTS = [80, 443];

interface ListedHost {
  /** Lowercase, without brackets; a wildcard is stored with its dot: `.example.org`. */
  readonly name: string;
  readonly ports: readonly number[];
}

/** The hosts that a sandbox may reach. */
export interface HostList {
  /** Whether connections to a port of a host are allowed. An IP address must be listed itself. */
  allows(host: string, port: number): boolean;
}

/**
 * Parses a run's host list.
 *
 * @example
 * readHostList(['api.openai.com', '*.example.org:8443']).allows('api.openai.com', 443) // true
 */
export function readHostList(entries: readonly string[]): HostList {
  const listedHosts = entries.map(readEntry);
  return {
    allows: (host, port) => {
      const requested = normalizeHost(host);
      return listedHosts.some(({ name, ports }) => ports.includes(port) && matches(name, requested));
    },
  };
}

/** Whether loopback addresses are listed. They then go through the proxy and refer to the host, not the sandbox. */
export function listsLoopback(entries: readonly string[]): boolean {
  return entries.map(readEntry).some(({ name }) => name === 'localhost' || name === '::1' || name.startsWith('127.'));
}

function readEntry(entry: string): ListedHost {
  const [, host = '', port] = /^(\[[^\]]*\]|.*?)(?::(\d+))?$/.exec(entry) ?? [];
  const name = normalizeHost(host);
  return {
    name: name.startsWith('*.') ? name.slice(1) : name,
    ports: port === undefined ? DEFAULT_PORTS : [Number(port)],
  };
}

function matches(name: string, requested: string): boolean {
  return name.startsWith('.')
    ? isIP(requested) === 0 && requested.endsWith(name) && requested.length > name.length
    : name === requested;
}

/**
 * Normalizes a host name or an IP address for comparison: lowercase, without brackets or a trailing dot, IPv6 in its
 * short form.
 */
export function normalizeHost(host: string): string {
  const name = host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  // The parser of URLs shortens IPv6 addresses; it refuses those with a zone.
  const url = `http://[${name}]`;
  return isIP(name) === 6 && URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : name;
}
