import { isIP } from 'node:net';

/** Ports of a host that is listed without a port. */
const DEFAULT_PORTS = [80, 443];

interface ListedHost {
  /** Lowercase, without brackets; a wildcard keeps its dot: `.example.org`. */
  readonly name: string;
  readonly ports: readonly number[];
}

/** The hosts that a sandbox may reach. */
export interface HostList {
  /** Whether a host may be asked for at a port. An address must be listed itself. */
  allows(host: string, port: number): boolean;
  /** Whether an address in the local network was listed explicitly, or as `localhost`. */
  listsAddress(address: string, host: string): boolean;
}

/**
 * Reads the list of hosts of a run.
 *
 * @example
 * readHostList(['api.openai.com', '*.example.org:8443']).allows('api.openai.com', 443) // true
 */
export function readHostList(entries: readonly string[]): HostList {
  const listed = entries.map(readEntry);
  return {
    allows: (host, port) => {
      const asked = normalize(host);
      return listed.some(({ name, ports }) => ports.includes(port) && matches(name, asked));
    },
    listsAddress: (address, host) =>
      listed.some(({ name }) => name === normalize(address)) || normalize(host) === 'localhost',
  };
}

/** Whether loopback addresses must go through the proxy too: inside the sandbox they mean the host machine. */
export function listsLoopback(entries: readonly string[]): boolean {
  return entries.map(readEntry).some(({ name }) => name === 'localhost' || name === '::1' || name.startsWith('127.'));
}

function readEntry(entry: string): ListedHost {
  const match = /^(.*?)(?::(\d+))?$/.exec(entry.startsWith('[') ? entry : entry.trim());
  const [, host = '', port] = entry.startsWith('[') ? (/^(\[[^\]]*\])(?::(\d+))?$/.exec(entry) ?? []) : (match ?? []);
  const name = normalize(host);
  return {
    name: name.startsWith('*.') ? name.slice(1) : name,
    ports: port === undefined ? DEFAULT_PORTS : [Number(port)],
  };
}

function matches(name: string, asked: string): boolean {
  return name.startsWith('.')
    ? isIP(asked) === 0 && asked.endsWith(name) && asked.length > name.length
    : name === asked;
}

function normalize(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
}
