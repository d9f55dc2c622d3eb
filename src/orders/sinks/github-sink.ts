import { COMMENTS_PER_PAGE, findComment, MAX_PAGE_BYTES, readComment, readComments } from './find-comment.js';
import type { ForgeOptions } from './find-comment.js';
import { createFetch } from './http/send-request.js';
import { loadPeer, withMarker, SinkError } from './sink.js';
import type { Sink } from './sink.js';

const COMMENTS = '/repos/{owner}/{repo}/issues/{issue_number}/comments';

/**
 * Comments on GitHub issues and pull requests (`owner/repo#7`), through Octokit.
 *
 * @example
 * createGitHubSink({ token, baseUrl: 'https://github.example.org/api/v3' })
 */
export function createGitHubSink(options: ForgeOptions): Sink {
  const { name = 'github', token, baseUrl, timeoutMs = 20_000, clock = Date.now } = options;

  async function connect(signal: AbortSignal) {
    const { Octokit } = await loadPeer('@octokit/core', async () => import('@octokit/core'));
    const fetch = createFetch({ name: 'GitHub', timeoutMs, maxResponseBytes: MAX_PAGE_BYTES, signal, clock });
    return new Octokit({ auth: token, request: { fetch }, ...(baseUrl === undefined ? {} : { baseUrl }) });
  }

  return {
    name,
    timeoutMs,
    accepts: (issueRef) => readPlace(issueRef) !== undefined,
    async find(message, signal) {
      const octokit = await connect(signal);
      const place = requirePlace(message.issue_ref);
      return findComment(message, async (page) => {
        const query = { ...place, per_page: COMMENTS_PER_PAGE, page };
        const { data } = await octokit.request(`GET ${COMMENTS}`, query).catch(unwrap);
        return readComments(data, readAddress);
      });
    },
    async send(message, signal) {
      const octokit = await connect(signal);
      const comment = { ...requirePlace(message.issue_ref), body: withMarker(message) };
      const { data } = await octokit.request(`POST ${COMMENTS}`, comment).catch(unwrap);
      return { deliveredTo: readComment(data, readAddress).address };
    },
  };
}

/** Octokit wraps what our transport throws. */
function unwrap(error: unknown): never {
  throw error instanceof Error && error.cause instanceof SinkError ? error.cause : error;
}

interface Place {
  readonly owner: string;
  readonly repo: string;
  readonly issue_number: number;
}

function readPlace(issueRef: string): Place | undefined {
  const [, owner, repo, number] = /^([\w.-]+)\/([\w.-]+)#(\d{1,15})$/.exec(issueRef) ?? [];
  if (owner === undefined || repo === undefined || number === undefined) return undefined;
  return { owner, repo, issue_number: Number(number) };
}

function requirePlace(issueRef: string): Place {
  const place = readPlace(issueRef);
  if (place !== undefined) return place;
  throw new SinkError('SINK_WRONG_ISSUE_REF', `Invalid GitHub issue "${issueRef}". Write owner/repo#7.`, {
    isPermanent: true,
  });
}

function readAddress(comment: object): string {
  return 'html_url' in comment && typeof comment.html_url === 'string' ? comment.html_url : 'GitHub';
}
