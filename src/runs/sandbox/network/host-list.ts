import { BlockList, isIP } from 'node:net';

const DEFAULT_PORTS = [80, 443];

interface ListedHost {
  /** Lowercase, without brackets; a wildcard is stored with its dot: `.example.org`. */
  readonly name: string;
  readonly ports: readonly number[];
}

/** The hosts that a sandbox may reach. */
export type HostList = ReturnType<typeof readHostList>;

/**
 * Parses a run's host list.
 *
 * @example
 * readHostList(['api.openai.com', '*.example.org:8443']).allows('api.openai.com', 443) // true
 */
export function readHostList(entries: readonly string[]) {
  const listedHosts = entries.map(readEntry);
  return {
    /** Whether connections to a port of a host are allowed. An IP address must be listed itself. */
    allows: (host: string, port: number): boolean => {
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

/** Normalizes a host: lowercase, without brackets or a trailing dot, IPv6 in its short form. */
export function normalizeHost(host: string): string {
  const name = host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  // The parser of URLs shortens IPv6 addresses; it refuses those with a zone.
  const url = `http://[${name}]`;
  return isIP(name) === 6 && URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : name;
}

/*
 * Non-public ranges. The names of webhook hosts and of hosts a sandbox may reach are configured, but their addresses
 * come from DNS and must not point into the local network.
 */
const RANGES = {
  ipv4: [
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
    // Metadata and agent of virtual machines on Azure.
    ['168.63.129.16', 32],
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.0.2.0', 24],
    ['192.88.99.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['198.51.100.0', 24],
    ['203.0.113.0', 24],
    ['224.0.0.0', 3],
  ],
  ipv6: [
    // All but 2000::/3, which alone has public unicast addresses.
    ['::', 3],
    ['4000::', 2],
    ['8000::', 1],
    // Teredo and 6to4 embed an IPv4 address, which could be private; the others are for documentation.
    ['2001::', 32],
    ['2002::', 16],
    ['2001:db8::', 32],
    ['3fff::', 20],
  ],
} as const;

// One list per family: in a shared list, the range of mapped addresses would match every IPv4 address.
const NOT_PUBLIC = { ipv4: createList('ipv4'), ipv6: createList('ipv6') };

function createList(family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of RANGES[family]) list.addSubnet(network, prefix, family);
  return list;
}

/** Whether an IP address is anything but a public unicast address; an invalid address counts as private. */
export function isPrivateAddress(address: string): boolean {
  const [withoutZone = ''] = address.split('%');
  switch (isIP(withoutZone)) {
    case 4:
      return NOT_PUBLIC.ipv4.check(withoutZone, 'ipv4');
    case 6:
      return NOT_PUBLIC.ipv6.check(withoutZone, 'ipv6');
    default:
      return true;
  }
}
