import { describe, expect, it } from 'vitest';
import { isPrivateAddress } from './host-list.js';

describe('isPrivateAddress', () => {
  it.each([
    '8.8.8.8',
    '140.82.121.4',
    '172.32.0.1',
    '192.169.0.1',
    '2606:4700::1111',
    '2a00:1450:4001::1',
    '168.63.129.17',
  ])('%s is public', (address) => {
    expect(isPrivateAddress(address)).toBe(false);
  });

  it.each([
    ['127.0.0.1', 'this host'],
    ['0.0.0.0', 'any address of this host'],
    ['10.1.2.3', 'a private network'],
    ['172.31.255.255', 'a private network'],
    ['192.168.0.1', 'a private network'],
    ['100.64.0.1', 'shared address space'],
    ['169.254.169.254', 'link-local: cloud metadata'],
    ['224.0.0.1', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['::1', 'this host'],
    ['::', 'any address of this host'],
    ['::7f00:1', 'this host, compatible'],
    ['::a9fe:a9fe', 'cloud metadata, compatible'],
    ['fe80::1%eth0', 'link-local, with a zone'],
    ['fd12::1', 'unique local'],
    ['::ffff:127.0.0.1', 'this host, mapped'],
    ['::ffff:8.8.8.8', 'mapped: never published in DNS'],
    ['64:ff9b::7f00:1', 'this host behind NAT64'],
    ['2002:7f00:1::', 'this host in 6to4'],
    ['::ffff:0:127.0.0.1', 'this host, translated'],
    ['2001:0:7f00:1::', 'this host in Teredo'],
    ['5f00::1', 'segment routing'],
    ['3fff::1', 'documentation'],
    ['168.63.129.16', 'cloud metadata on Azure'],
    ['localhost', 'not an address'],
    ['', 'not an address'],
  ])('%s is private: %s', (address) => {
    expect(isPrivateAddress(address)).toBe(true);
  });
});
