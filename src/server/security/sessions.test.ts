import { describe, expect, it } from 'vitest';
import { createSessions } from './tokens.js';

const ada = { name: 'Ada Lovelace; ö', scopes: ['read'], value: 'correct horse' } as const;
const bob = { name: 'bob', scopes: ['read', 'run', 'decide'], value: 'battery staple' } as const;
const HOUR = 3_600_000;

function open({ https = false, now = 1_000_000 } = {}) {
  const time = { now };
  const sessions = createSessions([ada, bob], { https, clock: () => time.now });
  return { time, sessions };
}

/** The part of a Set-Cookie header that the browser sends back. */
const toCookieHeader = (header: string): string => header.split(';')[0] ?? '';

describe('a session', () => {
  it('represents its token until it expires', () => {
    const { time, sessions } = open();
    const cookie = toCookieHeader(sessions.open(ada));
    expect(sessions.read(`other=1; ${cookie}; more=2`)).toMatchObject({ name: ada.name });
    time.now += 11 * HOUR;
    expect(sessions.read(cookie)).toMatchObject({ name: ada.name });
    time.now += HOUR;
    expect(sessions.read(cookie)).toBeUndefined();
  });

  it('is not readable by scripts and not sent by other sites', () => {
    const { sessions } = open();
    expect(sessions.open(ada)).toMatch(/; HttpOnly; SameSite=Strict; Path=\/$/);
  });

  it('is sent only over https if the server is reached by https', () => {
    const { sessions } = open({ https: true });
    expect(sessions.open(ada)).toMatch(/^__Host-sluice_session=.*; Secure$/);
    expect(sessions.read(toCookieHeader(sessions.open(ada)))).toMatchObject({ name: ada.name });
  });

  it('is valid on every server with the same tokens', () => {
    expect(open().sessions.read(toCookieHeader(open().sessions.open(bob)))).toMatchObject({ name: 'bob' });
  });

  it('is invalid once its token has changed', () => {
    const cookie = toCookieHeader(open().sessions.open(bob));
    const changedSessions = createSessions([{ ...bob, value: 'another' }], { https: false, clock: () => 0 });
    expect(changedSessions.read(cookie)).toBeUndefined();
    expect(createSessions([], { https: false, clock: () => 0 }).read(cookie)).toBeUndefined();
  });

  it('cannot be forged: another name, a later expiry, another signature', () => {
    const { sessions } = open();
    const [name = '', until = '', signature = ''] = toCookieHeader(sessions.open(ada))
      .replace('sluice_session=', '')
      .split('.');
    const encodedBob = Buffer.from('bob').toString('base64url');
    for (const parts of [
      [encodedBob, until, signature],
      [name, String(Number(until) + 1), signature],
      [name, until, `${signature.slice(0, -2)}AA`],
      [name, until, ''],
      ['', '', ''],
    ]) {
      expect(sessions.read(`sluice_session=${parts.join('.')}`)).toBeUndefined();
    }
    expect(sessions.read(`sluice_session=${name}.${until}.${signature}`)).toBeDefined();
  });

  it('is revoked by an empty, expired cookie', () => {
    expect(open().sessions.close()).toMatch(/^sluice_session=; Max-Age=0;/);
  });
});
