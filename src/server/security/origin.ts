import { isIP } from 'node:net';

/** Whether a request comes from a page of another origin or port. Clients other than browsers send neither header. */
export function isCrossSite(
  { host, origin, site }: Readonly<Record<'host' | 'origin' | 'site', string | undefined>>,
  allowed: readonly string[],
): boolean {
  if (origin !== undefined && allowed.includes(origin)) return false;
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  return origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase());
}

/** Whether an address is reachable from this host only. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

/** Returns the host name of a `Host` header, without its port, in lower case. */
export function readHostName(header: string): string {
  return header.replace(/:\d*$/, '').toLowerCase();
}

export function formatUrl(host: string, port: number): string {
  return `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/**
 * Returns the group of an address, for limits. Addresses that a single host or customer can easily use are counted
 * together: all of loopback, and IPv6 addresses with the same first 64 bits.
 *
 * @example
 * groupAddress('127.0.0.5') // 'loopback'
 * groupAddress('2001:db8:1:2:3:4:5:6') // '2001:db8:1:2'
 */
export function groupAddress(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  const plain = address
    .toLowerCase()
    .replace(/^::ffff:(?=\d+\.)/, '')
    .replace(/%.*$/, '');
  if (isLoopback(plain)) return 'loopback';
  if (isIP(plain) !== 6) return plain;
  const [head = '', tail] = plain.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const missing = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...Array.from({ length: missing }, () => '0'), ...after];
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
}
