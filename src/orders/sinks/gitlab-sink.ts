import { COMMENTS_PER_PAGE, findComment } from './find-comment.js';
import { MAX_PAGE_BYTES } from './forge-options.js';
import type { ForgeOptions } from './forge-options.js';
import { createRequester } from './gitlab-requester.js';
import { createFetch } from './http/create-fetch.js';
import { loadPeer } from './load-peer.js';
import { withMarker } from './marker.js';
import { readComment, readComments } from './read-comment.js';
import { SinkError } from './sink-error.js';
import type { Sink } from './sink.js';

/**
 * Notes on GitLab issues (`group/sub/project#7`), through GitBeaker.
 *
 * @example
 * createGitLabSink({ token, baseUrl: 'https://gitlab.example.org' })
 */
export function createGitLabSink(options: ForgeOptions): Sink {
  const { name = 'gitlab', token, baseUrl = 'https://gitlab.com', timeoutMs = 20_000, clock = Date.now } = options;
  const host = baseUrl.replace(/\/+$/, '');

  async function connect(signal: AbortSignal) {
    const { IssueNotes } = await loadPeer('@gitbeaker/rest', async () => import('@gitbeaker/rest'));
    const fetch = createFetch({ name: 'GitLab', timeoutMs, maxResponseBytes: MAX_PAGE_BYTES, signal, clock });
    return new IssueNotes({ host, token, requesterFn: ({ url }) => createRequester({ url, token, fetch }) });
  }

  return {
    name,
    timeoutMs,
    accepts: (issueRef) => placeOf(issueRef) !== undefined,
    async find(message, signal) {
      const notes = await connect(signal);
      const { project, iid } = requirePlace(message.issue_ref);
      return findComment(message, async (page) =>
        readComments(await notes.all(project, iid, { perPage: COMMENTS_PER_PAGE, page }), (note) =>
          addressOf(host, project, iid, note),
        ),
      );
    },
    async send(message, signal) {
      const notes = await connect(signal);
      const { project, iid } = requirePlace(message.issue_ref);
      const note = await notes.create(project, iid, withMarker(message));
      return { deliveredTo: readComment(note, (sent) => addressOf(host, project, iid, sent)).address };
    },
  };
}

interface Place {
  readonly project: string;
  readonly iid: number;
}

function placeOf(issueRef: string): Place | undefined {
  const [, project, iid] = /^([\w.-]+(?:\/[\w.-]+)+)#(\d{1,15})$/.exec(issueRef) ?? [];
  return project === undefined || iid === undefined ? undefined : { project, iid: Number(iid) };
}

function requirePlace(issueRef: string): Place {
  const place = placeOf(issueRef);
  if (place !== undefined) return place;
  throw new SinkError('SINK_WRONG_ISSUE_REF', `${issueRef} is not an issue of GitLab: group/project#7 is.`, {
    isPermanent: true,
  });
}

function addressOf(host: string, project: string, iid: number, note: object): string {
  const id = 'id' in note && typeof note.id === 'number' ? `#note_${note.id}` : '';
  return `${host}/${project}/-/issues/${iid}${id}`;
}
