import { BlockList, isIP } from 'node:net';

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
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.0.2.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['198.51.100.0', 24],
    ['203.0.113.0', 24],
    ['224.0.0.0', 3],
  ],
  ipv6: [
    // The unspecified address, loopback, and the deprecated IPv4-compatible addresses.
    ['::', 96],
    // Addresses that embed an IPv4 address, which could be private: mapped, NAT64, 6to4, Teredo.
    ['::ffff:0:0', 96],
    ['64:ff9b::', 96],
    ['64:ff9b:1::', 48],
    ['2002::', 16],
    ['2001::', 32],
    ['2001:db8::', 32],
    ['100::', 64],
    ['fc00::', 7],
    ['fe80::', 10],
    ['fec0::', 10],
    ['ff00::', 8],
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
