import { COMMENTS_PER_PAGE, createForgeSink, type ForgeOptions } from './forge.js';
import { loadPeer, type Sink } from './sink.js';

const COMMENTS = '/repos/{owner}/{repo}/issues/{issue_number}/comments';

/**
 * Creates a sink that comments on GitHub issues and pull requests (`owner/repo#7`), through Octokit.
 *
 * @example
 * createGitHubSink({ token, baseUrl: 'https://github.example.org/api/v3' })
 */
export function createGitHubSink(options: ForgeOptions): Sink {
  const { name = 'github', token, baseUrl } = options;
  const api = (baseUrl ?? 'https://api.github.com').replace(/\/+$/, '');
  return createForgeSink(
    { ...options, name },
    {
      title: 'GitHub',
      format: 'owner/repo#7',
      // On GitHub's own servers (github.com, NAME.ghe.com), the API host has the prefix `api.`.
      host: new URL(api).host.replace(/^api\.(?=github\.com$|[a-z0-9-]+\.ghe\.com$)/, ''),
      parseIssue,
      readAddress: (comment) =>
        'html_url' in comment && typeof comment.html_url === 'string' ? comment.html_url : 'GitHub',
      pullRequest: {
        getUrl: ({ owner, repo }, number) => `${api}/repos/${owner}/${repo}/pulls/${number}`,
        headers: { authorization: `token ${token}` },
        fields: { head: ['head', 'sha'], address: ['html_url'], repository: ['base', 'repo', 'full_name'] },
      },
      async connect(fetch) {
        const { Octokit } = await loadPeer('@octokit/core', async () => import('@octokit/core'));
        const octokit = new Octokit({ auth: token, request: { fetch }, ...(baseUrl === undefined ? {} : { baseUrl }) });
        return {
          async list(issue, page) {
            const query = { ...issue, per_page: COMMENTS_PER_PAGE, page };
            return (await octokit.request(`GET ${COMMENTS}`, query).catch(unwrap)).data;
          },
          add: async (issue, body) =>
            (await octokit.request(`POST ${COMMENTS}`, { ...issue, body }).catch(unwrap)).data,
        };
      },
    },
  );
}

/** Octokit wraps our transport's errors, and the reason of an aborted signal. */
function unwrap(error: unknown): never {
  throw error instanceof Error && error.name === 'HttpError' && error.cause !== undefined ? error.cause : error;
}

function parseIssue(issueRef: string) {
  const [, owner, repo, number] = /^([\w.-]+)\/([\w.-]+)#(\d{1,15})$/.exec(issueRef) ?? [];
  if (owner === undefined || repo === undefined || number === undefined) return undefined;
  return { owner, repo, issue_number: Number(number) };
}
