import { COMMENTS_PER_PAGE, createForgeSink, type ForgeOptions } from './forge.js';
import { loadPeer, type ForgeFetch, type Sink } from './sink.js';

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
      readAddress: (note, { project, iid }) =>
        `${host}/${project}/-/issues/${iid}${'id' in note && typeof note.id === 'number' ? `#note_${note.id}` : ''}`,
      pullRequest: {
        getUrl: ({ project }, number) =>
          `${host}/api/v4/projects/${encodeURIComponent(project)}/merge_requests/${number}`,
        headers: { 'private-token': token },
        fields: { head: ['sha'], address: ['web_url'], repository: ['references', 'full'] },
      },
      async connect(fetch) {
        const { IssueNotes } = await loadPeer('@gitbeaker/rest', async () => import('@gitbeaker/rest'));
        const notes = new IssueNotes({ host, token, requesterFn: ({ url }) => createRequester(url, token, fetch) });
        return {
          list: async ({ project, iid }, page) => notes.all(project, iid, { perPage: COMMENTS_PER_PAGE, page }),
          add: async ({ project, iid }, body) => notes.create(project, iid, body),
        };
      },
    },
  );
}

function parseIssue(issueRef: string) {
  const [, project, iid] = /^([\w.-]+(?:\/[\w.-]+)+)#(\d{1,15})$/.exec(issueRef) ?? [];
  return project === undefined || iid === undefined ? undefined : { project, iid: Number(iid) };
}

interface RequesterResponse<T> {
  body: T;
  headers: Record<string, string>;
  status: number;
}

interface RequesterOptions {
  readonly searchParams?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/**
 * Creates the transport for GitLab's client. The client's own transport repeats a POST up to ten times after a 429 or a
 * 502, which duplicates a comment if the first request was accepted; this transport sends every request once.
 */
function createRequester(base: string, token: string, fetch: ForgeFetch) {
  const createMethod =
    (method: 'GET' | 'POST') =>
    async <T>(endpoint: string, { searchParams = {}, body }: RequesterOptions = {}): Promise<RequesterResponse<T>> => {
      const url = new URL(endpoint, base.endsWith('/') ? base : `${base}/`);
      for (const [key, value] of Object.entries(searchParams))
        url.searchParams.set(
          key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
          String(value),
        );
      const headers = { 'private-token': token, 'content-type': 'application/json' };
      const response = await fetch(url, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      // The client declares the type of each response; the sink checks the fields that it reads.
      const value = (await response.json()) as T;
      return { body: value, headers: Object.fromEntries(response.headers), status: response.status };
    };
  const others = { put: rejectMethod, patch: rejectMethod, delete: rejectMethod };
  return { get: createMethod('GET'), post: createMethod('POST'), ...others };
}

async function rejectMethod(): Promise<never> {
  throw new TypeError('Sinks only read and add comments.');
}
