import { isIP } from 'node:net';

/** Whether only this machine can reach an address. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

/** The name in a `Host` header, without its port, in lower case. */
export function nameInHost(header: string): string {
  return header.replace(/:\d*$/, '').toLowerCase();
}

/** An address as a URL writes it. */
export function urlOf(host: string, port: number): string {
  return `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}
