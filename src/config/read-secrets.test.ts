import { expect, it } from 'vitest';
import { readSecrets } from './read-secrets.js';

it('finds the tokens of the server and the secrets of the sinks, longest first', () => {
  const env = { ADA: 'a-token', GITHUB_TOKEN: 'a-token-and-more', HOOK: 'hook', EMPTY: '' };
  const secrets = readSecrets(
    {
      tokens: [
        { name: 'ada', scopes: ['read'], value_env: 'ADA' },
        { name: 'bob', scopes: [], value: 'written-down' },
      ],
      sinks: [
        { type: 'github', token_env: 'GITHUB_TOKEN' },
        { type: 'webhook', url: 'https://example.org', secret_env: 'HOOK' },
        { type: 'gitlab', token_env: 'EMPTY' },
        { type: 'markdown' },
      ],
    },
    env,
  );
  expect(secrets).toEqual(['a-token-and-more', 'written-down', 'a-token', 'hook']);
});

it('finds nothing in an empty configuration', () => {
  expect(readSecrets({}, {})).toEqual([]);
});

it('does not require the tokens of the server from a worker', () => {
  const tokens = [
    { name: 'ada', scopes: [], value_env: 'NOT_HERE' },
    { name: 'bob', scopes: [], value: 'written-down' },
  ];
  expect(readSecrets({ tokens }, {})).toEqual(['written-down']);
});
