import { describe, expect, it } from 'vitest';
import { groupAddress, isLoopback, readHostName, formatUrl } from './origin.js';

describe('an address', () => {
  it.each(['127.0.0.1', '127.8.9.1', 'localhost', 'LOCALHOST', '::1', '[::1]'])(
    '%s is reachable only from this host',
    (host) => {
      expect(isLoopback(host)).toBe(true);
    },
  );

  it.each(['0.0.0.0', '::', '192.168.1.2', '127.0.0.1.evil.example', 'localhost.evil.example', '127.1', '', '[::]'])(
    '%s is reachable from other hosts',
    (host) => {
      expect(isLoopback(host)).toBe(false);
    },
  );

  it('is parsed from a Host header', () => {
    expect(readHostName('LocalHost:7171')).toBe('localhost');
    expect(readHostName('[::1]:7171')).toBe('[::1]');
    expect(readHostName('[::1]')).toBe('[::1]');
    expect(readHostName('example.org:')).toBe('example.org');
  });

  it('is formatted as a URL', () => {
    expect(formatUrl('127.0.0.1', 80)).toBe('http://127.0.0.1:80');
    expect(formatUrl('::1', 7171)).toBe('http://[::1]:7171');
  });

  it.each([
    ['127.0.0.1', 'loopback'],
    ['127.9.8.7', 'loopback'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:0db8:0001:0002::9', '2001:db8:1:2'],
    ['2001:db8::9', '2001:db8:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    [undefined, 'unknown'],
  ])('%s is counted as %s', (address, group) => {
    expect(groupAddress(address)).toBe(group);
  });
});
