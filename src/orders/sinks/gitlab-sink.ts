import { COMMENTS_PER_PAGE, createForgeSink } from './forge.js';
import type { ForgeOptions } from './forge.js';
import { loadPeer } from './sink.js';
import type { Sink } from './sink.js';

/**
 * Creates a sink that writes notes on GitLab issues (`group/sub/project#7`), through GitBeaker.
 *
 * @example
 * createGitLabSink({ token, baseUrl: 'https://gitlab.example.org' })
 */
export function createGitLabSink(options: ForgeOptions): Sink {
  const { name = 'gitlab', token, baseUrl = 'https://gitlab.com' } = options;
  const host = baseUrl.replace(/\/+$/, '');
  return createForgeSink(
    { ...options, name },
    {
      title: 'GitLab',
      format: 'group/project#7',
      host: new URL(host).host,
      parseIssue,
      readAddress: (note, issue) => formatNoteAddress(host, issue, note),
      pullRequest: {
        getUrl: ({ project }, number) =>
          `${host}/api/v4/projects/${encodeURIComponent(project)}/merge_requests/${number}`,
        headers: { 'private-token': token },
        fields: { head: ['sha'], address: ['web_url'], repository: ['references', 'full'] },
      },
      async connect(fetch) {
        const { IssueNotes } = await loadPeer('@gitbeaker/rest', async () => import('@gitbeaker/rest'));
        const notes = new IssueNotes({ host, token, requesterFn: ({ url }) => createRequester({ url, token, fetch }) });
        return {
          list: async ({ project, iid }, page) => notes.all(project, iid, { perPage: COMMENTS_PER_PAGE, page }),
          add: async ({ project, iid }, body) => notes.create(project, iid, body),
        };
      },
    },
  );
}

interface GitLabIssue {
  readonly project: string;
  readonly iid: number;
}

function parseIssue(issueRef: string): GitLabIssue | undefined {
  const [, project, iid] = /^([\w.-]+(?:\/[\w.-]+)+)#(\d{1,15})$/.exec(issueRef) ?? [];
  return project === undefined || iid === undefined ? undefined : { project, iid: Number(iid) };
}

function formatNoteAddress(host: string, { project, iid }: GitLabIssue, note: object): string {
  const id = 'id' in note && typeof note.id === 'number' ? `#note_${note.id}` : '';
  return `${host}/${project}/-/issues/${iid}${id}`;
}

interface RequesterOptions {
  readonly searchParams?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

interface RequesterResponse<T> {
  body: T;
  headers: Record<string, string>;
  status: number;
}

interface Connection {
  readonly url: string;
  readonly token: string;
  readonly fetch: typeof globalThis.fetch;
}

/**
 * Creates the transport for GitLab's client. The client's own transport repeats a POST up to ten times after a 429 or a
 * 502, which duplicates a comment if the first request was accepted; this transport sends every request once.
 */
function createRequester(connection: Connection) {
  const method =
    (name: 'GET' | 'POST') =>
    async <T>(endpoint: string, options: RequesterOptions = {}): Promise<RequesterResponse<T>> => {
      const response = await connection.fetch(createUrl(connection.url, endpoint, options), {
        method: name,
        headers: { 'private-token': connection.token, 'content-type': 'application/json' },
        ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
      });
      // The client declares the type of each response; the sink checks the fields that it reads.
      const body = (await response.json()) as T;
      return { body, headers: Object.fromEntries(response.headers), status: response.status };
    };
  return { get: method('GET'), post: method('POST'), put: rejectMethod, patch: rejectMethod, delete: rejectMethod };
}

function createUrl(base: string, endpoint: string, { searchParams = {} }: RequesterOptions): URL {
  const url = new URL(endpoint, base.endsWith('/') ? base : `${base}/`);
  for (const [key, value] of Object.entries(searchParams)) {
    const name = key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    url.searchParams.set(name, String(value));
  }
  return url;
}

async function rejectMethod(): Promise<never> {
  throw new TypeError('Sinks only read and add comments.');
}
