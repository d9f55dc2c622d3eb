import { describe, expect, it } from 'vitest';
import { readSecrets } from './read-settings.js';

describe('readSecrets', () => {
  it("finds the server's tokens and the sinks' secrets, longest first", () => {
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

  it('finds every token in SLUICE_TOKENS that has a value, even if one is too short, duplicated or missing', () => {
    const list = [
      { name: 'ada', scopes: [], value: 'the-token-of-ada-1234' },
      { name: 'ada', scopes: [], value: 'short-one' },
      { name: 'bob', scopes: [], value_env: 'NOT_HERE' },
    ];
    const env = { SLUICE_TOKENS: JSON.stringify(list) };
    expect(readSecrets({}, env)).toEqual(['the-token-of-ada-1234', 'short-one']);
  });

  it.each([
    [
      'an entry with an unknown scope',
      '[{"name": "a", "scopes": ["reed"], "value": "the-token-of-ada-1234"}, 7, null]',
    ],
    ['an entry without a name', '[{"value": "the-token-of-ada-1234"}]'],
  ])('finds the tokens in a list with %s', (_, list) => {
    expect(readSecrets({}, { SLUICE_TOKENS: list })).toEqual(['the-token-of-ada-1234']);
    expect(readSecrets({}, { SLUICE_TOKENS: list, SLUICE_TOKENS_FILE: '/missing' })).toEqual(['the-token-of-ada-1234']);
  });

  it.each(['not JSON', '{"value": "x"}', '7'])('finds nothing in a token list that is not a list: %s', (list) => {
    expect(readSecrets({}, { SLUICE_TOKENS: list })).toEqual([]);
  });

  it('finds nothing in an empty configuration', () => {
    expect(readSecrets({}, {})).toEqual([]);
  });

  it("does not fail if a server token is missing from a worker's environment", () => {
    const tokens = [
      { name: 'ada', scopes: [], value_env: 'NOT_HERE' },
      { name: 'bob', scopes: [], value: 'written-down', value_env: 'BOB' },
    ];
    expect(readSecrets({ tokens }, { BOB: 'in-a-variable' })).toEqual(['in-a-variable', 'written-down']);
  });
});
