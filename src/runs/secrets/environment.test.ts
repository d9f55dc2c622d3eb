import { describe, expect, it } from 'vitest';
import { selectEnvironment, listSensitiveValues } from './environment.js';

describe('listSensitiveValues', () => {
  it.each([
    'OPENAI_API_KEY',
    'GITHUB_TOKEN',
    'AWS_SECRET_ACCESS_KEY',
    'DB_PASSWORD',
    'PGPASSWORD',
    'npm_config__authToken',
    'GITLAB_PAT',
    'ANTHROPIC_AUTH_TOKEN',
    'BASIC_AUTH',
    'SSH_PASSPHRASE',
    'OPENAIKEY',
    'SIGNING_KEYS',
    'SESSION_JWT',
    'SLUICE_TOKENS',
  ])('includes the value of %s', (name) => {
    expect(listSensitiveValues({ [name]: 'a value' })).toEqual(['a value']);
  });

  it.each([
    ['PATH', '/usr/bin:/bin'],
    ['HOME', '/home/me'],
    ['PWD', '/home/me'],
    ['SSH_AUTH_SOCK', '/run/agent.sock'],
    ['KEYBOARD', 'german-latin1'],
    ['GIT_AUTHOR_NAME', 'Somebody'],
    ['AUTH_TYPE', 'oauth-personal'],
    ['TLS_KEY_FILE', '/etc/key.pem'],
    ['MONKEYS', ''],
    ['GOOGLE_APPLICATION_CREDENTIALS', '/home/me/account.json'],
    ['OPENAI_BASE_URL', 'https://api.example.org/v1'],
    ['TOKEN_ENDPOINT', 'somewhere'],
    ['AUTH_URL', 'https://login.example.org'],
  ])('excludes %s', (name, value) => {
    expect(listSensitiveValues({ [name]: value })).toEqual([]);
  });

  it('includes the credentials in any URL, as written and decoded', () => {
    expect(listSensitiveValues({ DATABASE_URL: 'postgres://me:p%40ss@host/db' })).toEqual([
      'me:p%40ss',
      'p%40ss',
      'p@ss',
    ]);
    expect(listSensitiveValues({ ANY_BASE_URL: 'https://host/v1?api_key=abc123&model=x' })).toEqual(['abc123']);
  });

  it('includes the full URL of a webhook, which is the secret', () => {
    const hook = 'https://hooks.example.org/T000/B000/xyz';
    expect(listSensitiveValues({ SLACK_WEBHOOK_URL: hook })).toEqual([hook]);
  });

  it('includes a key that starts like a path', () => {
    expect(listSensitiveValues({ AWS_SECRET_ACCESS_KEY: '/abc+def/ghi' })).toEqual(['/abc+def/ghi']);
  });
});

describe('selectEnvironment', () => {
  const ambient = {
    PATH: '/bin',
    HOME: '/home/me',
    LC_ALL: 'C',
    LCX: '1',
    OPENAI_API_KEY: 'k',
    OPENAI_BASE_URL: 'u',
    OTHER: 'o',
    SLUICE_TOKENS: 't',
    EMPTY: undefined,
  };

  it('selects a small base and nothing else', () => {
    expect(selectEnvironment([], ambient)).toEqual({ PATH: '/bin', HOME: '/home/me', LC_ALL: 'C' });
  });

  it('adds variables allowed by name or by glob', () => {
    expect(selectEnvironment(['OPENAI_*'], ambient)).toMatchObject({ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'u' });
    expect(selectEnvironment(['OTHER', 'EMPTY', 'MISSING'], ambient)).toEqual({
      PATH: '/bin',
      HOME: '/home/me',
      LC_ALL: 'C',
      OTHER: 'o',
    });
    expect(Object.keys(selectEnvironment(['*_BASE_*'], ambient))).toContain('OPENAI_BASE_URL');
    expect(Object.keys(selectEnvironment(['OPENAI_*_*_KEY', 'O*I*R'], ambient))).toEqual(['PATH', 'HOME', 'LC_ALL']);
  });

  it('selects variables of Sluice itself only by their full name', () => {
    expect(selectEnvironment(['*'], ambient)).not.toHaveProperty('SLUICE_TOKENS');
    expect(selectEnvironment(['SLUICE_TOKENS'], ambient)).toHaveProperty('SLUICE_TOKENS', 't');
  });

  it('handles long names and many asterisks', () => {
    expect(selectEnvironment([`${'a*'.repeat(2000)}b`], { ['a'.repeat(20_000)]: 'x' })).toEqual({});
  });
});
