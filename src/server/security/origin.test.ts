import { describe, expect, it } from 'vitest';
import { isCrossSite } from './origin.js';

const host = 'localhost:7171';
const page = (headers: { origin?: string; site?: string }) => ({
  host,
  origin: undefined,
  site: undefined,
  ...headers,
});

describe('a request from', () => {
  it.each([
    ['a client that is not a browser', {}],
    ['a page of this server', { origin: 'http://localhost:7171', site: 'same-origin' }],
    ['a page of this server in a browser without Fetch Metadata', { origin: 'http://localhost:7171' }],
    ['a typed address', { site: 'none' }],
    ['a page of a configured site', { origin: 'https://console.example.org', site: 'cross-site' }],
  ])('%s is not cross-site', (_, headers) => {
    expect(isCrossSite(page(headers), ['https://console.example.org'])).toBe(false);
  });

  it.each([
    ['another site', { origin: 'https://evil.example', site: 'cross-site' }],
    ['another site in a browser without Fetch Metadata', { origin: 'https://evil.example' }],
    ['a link on another site', { site: 'cross-site' }],
    ['a page on another port', { origin: 'http://localhost:3000', site: 'same-site' }],
    ['another port in a browser without Fetch Metadata', { origin: 'http://localhost:3000' }],
    ['a page without an origin, such as a file or a sandbox', { origin: 'null' }],
    ['a site with a name similar to a configured site', { origin: 'https://console.example.org.evil.example' }],
  ])('%s is cross-site', (_, headers) => {
    expect(isCrossSite(page(headers), ['https://console.example.org'])).toBe(true);
  });
});
