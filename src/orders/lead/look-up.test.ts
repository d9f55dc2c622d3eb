import { describe, expect, it, test } from 'vitest';
import { judgePullRequest, parsePullRequest } from '../proof/pull-request.js';
import { startFaultyServer } from '../sinks/fixtures/faulty-server.js';
import { createGitHubSink } from '../sinks/github-sink.js';
import { createGitLabSink } from '../sinks/gitlab-sink.js';
import { createMarkdownSink } from '../sinks/markdown-sink.js';
import { findPullRequest } from './create-lead.js';

test.each([
  ['https://github.com/acme/shop/pull/7', { host: 'github.com', repository: 'acme/shop', number: 7 }],
  ['https://GitHub.com/acme/shop/pull/7/files#diff', { host: 'github.com', repository: 'acme/shop', number: 7 }],
  ['https://gitlab.com/a/b/c/-/merge_requests/12', { host: 'gitlab.com', repository: 'a/b/c', number: 12 }],
  ['acme/shop#7', { repository: 'acme/shop', number: 7 }],
  ['a/b/c!7', { repository: 'a/b/c', number: 7 }],
  ['#7', { number: 7 }],
  ['PR 7', { number: 7 }],
  ['https://user@evil.example/acme/shop/pull/7', undefined],
  ['the pull request', undefined],
  ['#0', undefined],
])('%s names %j', (text, expected) => {
  expect(parsePullRequest(text)).toEqual(expected);
});

const HEAD = 'c'.repeat(40);

/** A forge with pull request 7 in `acme/shop`, at the same address for both kinds. */
async function openForge() {
  const server = await startFaultyServer(({ url, headers }) => {
    const isAllowed = headers.authorization === 'token secret' || headers['private-token'] === 'secret';
    if (!isAllowed) return { status: 401, body: {} };
    if (url === '/repos/acme/shop/pulls/7') {
      return {
        status: 200,
        body: { head: { sha: HEAD }, html_url: 'https://x/7', base: { repo: { full_name: 'Acme/shop' } } },
      };
    }
    if (url === '/repos/acme/shop/pulls/8') {
      return {
        status: 200,
        body: { head: { sha: HEAD }, html_url: 'https://x/8', base: { repo: { full_name: 'evil/shop' } } },
      };
    }
    if (url === '/api/v4/projects/acme%2Fshop/merge_requests/7') {
      return { status: 200, body: { sha: HEAD, web_url: 'https://x/7', references: { full: 'acme/shop!7' } } };
    }
    return url.endsWith('/500') ? { status: 500, body: {} } : { status: 404, body: {} };
  });
  return { ...server, host: new URL(server.url).host };
}

describe.each([
  ['GitHub', createGitHubSink, 'pull'],
  ['GitLab', createGitLabSink, '-/merge_requests'],
] as const)('a pull request of %s', (_, create, path) => {
  async function find(formatName: (host: string) => string, { issueRef = 'acme/shop#1', token = 'secret' } = {}) {
    const forge = await openForge();
    const sink = create({ token, baseUrl: forge.url, timeoutMs: 5000 });
    const finding = await findPullRequest({ sinks: [sink] }, issueRef, formatName(forge.host));
    return { finding, seen: forge.seen };
  }

  it('is found by its URL and by its number', async () => {
    const expected = { found: 'request', head: HEAD, address: 'https://x/7' };
    expect((await find((host) => `http://${host}/acme/shop/${path}/7`)).finding).toEqual(expected);
    expect((await find(() => '#7')).finding).toEqual(expected);
  });

  it('is missing if the forge does not have it', async () => {
    expect((await find(() => '#9')).finding).toEqual({ found: 'missing', repository: 'acme/shop' });
  });

  it('in another repository is not requested', async () => {
    const { finding, seen } = await find((host) => `http://${host}/evil/shop/${path}/7`);
    expect(finding).toEqual({ found: 'elsewhere', repository: 'acme/shop' });
    expect(seen).toEqual([]);
  });

  it.each<[string, (host: string) => string, object]>([
    ['on a host without credentials', () => `https://example.org/acme/shop/${path}/7`, {}],
    ['of an issue without a repository', () => '#7', { issueRef: 'local#1' }],
    ['that cannot be parsed', () => 'somewhere', {}],
    ['when the forge fails', () => '#500', {}],
    ['with a token that the forge refuses', () => '#7', { token: 'wrong' }],
  ])('stays unchecked %s', async (_name, named, options) => {
    expect((await find(named, options)).finding.found).toBe('unknown');
  });
});

it('trusts the forge about the repository, not the URL', async () => {
  const forge = await openForge();
  const sink = createGitHubSink({ token: 'secret', baseUrl: forge.url, timeoutMs: 5000 });
  expect(await findPullRequest({ sinks: [sink] }, 'acme/shop#1', '#8')).toEqual({
    found: 'elsewhere',
    repository: 'acme/shop',
  });
});

it('sends no request if no sink is a forge', async () => {
  const sinks = [createMarkdownSink({ folder: '/nowhere' })];
  expect(await findPullRequest({ sinks }, 'acme/shop#1', '#7')).toMatchObject({ found: 'unknown' });
});

test('the detail about a failed lookup ends with one full stop', () => {
  const finding = { found: 'unknown', why: 'Cannot reach "https://x": refused.' } as const;
  expect(judgePullRequest(finding, '#7', HEAD).detail).toBe(
    '#7 could not be looked up: Cannot reach "https://x": refused.',
  );
});

test('a pull request is confirmed only with the claimed commit as its head', () => {
  const finding = { found: 'request', head: HEAD, address: 'https://x/7' } as const;
  expect(judgePullRequest(finding, '#7', HEAD).verdict).toBe('confirmed');
  expect(judgePullRequest(finding, '#7', 'cccccccc').verdict).toBe('confirmed');
  expect(judgePullRequest(finding, '#7', 'd'.repeat(40)).verdict).toBe('contradicted');
  expect(judgePullRequest(finding, '#7', undefined).verdict).toBe('unchecked');
});
