import { describe, expect, it } from 'vitest';
import { sandboxNetwork } from './run-spec.js';

describe("a host in a sandbox's network list", () => {
  const pattern = new RegExp(sandboxNetwork.anyOf[1].items.pattern);

  it.each(['example.org', '*.example.org', 'localhost:1', 'example.org:443', '10.0.0.1:65535', '[::1]:9999', '[::1]'])(
    'can be %s',
    (host) => {
      expect(pattern.test(host)).toBe(true);
    },
  );

  it.each(['', '*', 'https://example.org', 'example.org:0', 'example.org:65536', 'example.org:70000', '::1', 'a b'])(
    'cannot be "%s"',
    (host) => {
      expect(pattern.test(host)).toBe(false);
    },
  );
});
