import { describe, expect, it } from 'vitest';
import { startForge } from './fixtures/forge.js';
import { makeMessage } from './fixtures/message.js';
import { createGitHubSink } from './github-sink.js';
import { describeNetworkSink, describeSearchableSink, describeSink } from './sink.contract.js';

async function start() {
  const forge = await startForge({ perPage: 10 });
  const sink = createGitHubSink({ token: 'secret-token', baseUrl: forge.url, timeoutMs: 500 });
  return { ...forge, sink, arrived: async () => forge.bodies() };
}

describeSink('GitHub comments', start);
describeSearchableSink('GitHub comments', start);
describeNetworkSink('GitHub comments', start);

describe('createGitHubSink', () => {
  const signal = AbortSignal.timeout(60_000);

  it('posts to the comments of the issue, with the token', async () => {
    const { sink, seen } = await start();
    await sink.send(makeMessage(), signal);
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/repos/owner/repo/issues/7/comments' });
    expect(seen[0]?.headers.authorization).toBe('token secret-token');
  });

  it('returns the URL of the comment', async () => {
    const { sink } = await start();
    expect(await sink.send(makeMessage(), signal)).toEqual({ deliveredTo: 'https://forge.example/comment/1' });
  });

  it.each(['local#7', 'group/sub/project#7', 'owner/repo#x', 'owner/repo', '../x#1/..#1'])(
    'does not accept %s',
    async (issueRef) => {
      const { sink, seen } = await start();
      expect(sink.accepts(issueRef)).toBe(false);
      await expect(sink.send(makeMessage({ issue_ref: issueRef }), signal)).rejects.toMatchObject({
        code: 'SINK_WRONG_ISSUE_REF',
        isPermanent: true,
      });
      expect(seen).toEqual([]);
    },
  );

  it.each([
    [undefined, 'github.com'],
    ['https://api.github.com/', 'github.com'],
    ['https://api.acme.ghe.com', 'acme.ghe.com'],
    ['https://api.acme.ghe.com.evil.example', 'api.acme.ghe.com.evil.example'],
    ['https://github.example.org/api/v3', 'github.example.org'],
  ])('with the base URL %s looks up pull requests of %s', (baseUrl, host) => {
    const sink = createGitHubSink({ token: 'x', ...(baseUrl === undefined ? {} : { baseUrl }) });
    expect(sink.pullRequests?.host).toBe(host);
  });

  it('rejects an endless response', async () => {
    const { sink, failNext } = await start();
    failNext({ kind: 'endless-after' });
    await expect(sink.send(makeMessage(), signal)).rejects.toMatchObject({ name: 'SinkError' });
  });
});
