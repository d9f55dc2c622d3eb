import { describe, expect, it } from 'vitest';
import { startForge } from './fixtures/forge.js';
import { makeMessage } from './fixtures/message.js';
import { createGitLabSink } from './gitlab-sink.js';
import { describeNetworkSink, describeSearchableSink, describeSink } from './sink.contract.js';

async function start() {
  const forge = await startForge({ perPage: 10 });
  const sink = createGitLabSink({ token: 'secret-token', baseUrl: `${forge.url}/`, timeoutMs: 500 });
  return { ...forge, sink, arrived: async () => forge.bodies() };
}

describeSink('GitLab notes', start);
describeSearchableSink('GitLab notes', start);
describeNetworkSink('GitLab notes', start);

describe('createGitLabSink', () => {
  const signal = AbortSignal.timeout(60_000);

  it("posts to the issue's notes, with the token, even in subgroups", async () => {
    const { sink, seen } = await start();
    await sink.send(makeMessage({ issue_ref: 'group/sub/project#7' }), signal);
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/api/v4/projects/group%2Fsub%2Fproject/issues/7/notes' });
    expect(seen[0]?.headers['private-token']).toBe('secret-token');
  });

  it('requests a hundred notes per page', async () => {
    const { sink, seen } = await start();
    await sink.find?.(makeMessage(), signal);
    expect(seen[0]?.url).toBe('/api/v4/projects/owner%2Frepo/issues/7/notes?per_page=100&page=1');
  });

  it('returns the URL of the note', async () => {
    const { sink, url } = await start();
    expect(await sink.send(makeMessage(), signal)).toEqual({ deliveredTo: `${url}/owner/repo/-/issues/7#note_1` });
  });

  it.each(['local#7', 'project#7', 'group/project!7'])('does not accept %s', async (issueRef) => {
    const { sink, seen } = await start();
    expect(sink.accepts(issueRef)).toBe(false);
    await expect(sink.send(makeMessage({ issue_ref: issueRef }), signal)).rejects.toMatchObject({
      code: 'SINK_WRONG_ISSUE_REF',
    });
    expect(seen).toEqual([]);
  });
});
