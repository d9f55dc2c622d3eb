import { getErrorMessage } from '../../base/index.js';
import { getRepository } from '../../records/index.js';
import { parsePullRequest } from '../proof/pull-request.js';
import type { PullRequestFinding } from '../proof/pull-request.js';
import type { LeadContext } from './lead-context.js';

/**
 * Looks up a pull request with a sink's credentials. Only the issue's repository is searched, regardless of any address
 * or remote that an agent names.
 */
export async function findPullRequest(
  { sinks }: Pick<LeadContext, 'sinks'>,
  issueRef: string,
  name: string,
): Promise<PullRequestFinding> {
  const repository = getRepository(issueRef);
  const reference = parsePullRequest(name);
  if (repository === undefined) return { found: 'unknown', why: 'the issue names no repository' };
  if (reference === undefined)
    return { found: 'unknown', why: 'it is neither the URL nor the number of a pull request' };
  const candidates = sinks.filter((sink) => sink.pullRequests !== undefined && sink.accepts(issueRef));
  const [sink, ...otherSinks] =
    reference.host === undefined
      ? candidates
      : candidates.filter(({ pullRequests }) => pullRequests?.host === reference.host);
  if (sink?.pullRequests === undefined) {
    return { found: 'unknown', why: `no sink is configured with credentials for ${reference.host ?? 'its host'}` };
  }
  if (otherSinks.length > 0) return { found: 'unknown', why: 'multiple sinks match; use the full URL' };
  if (reference.repository !== undefined && reference.repository.toLowerCase() !== repository.toLowerCase()) {
    return { found: 'elsewhere', repository };
  }
  try {
    const signal = AbortSignal.timeout(sink.timeoutMs);
    const pullRequest = await sink.pullRequests.find(issueRef, reference.number, signal);
    if (pullRequest === undefined) return { found: 'missing', repository };
    // The forge redirects from a renamed repository, so use the name in its response.
    if (pullRequest.repository !== undefined && pullRequest.repository.toLowerCase() !== repository.toLowerCase()) {
      return { found: 'elsewhere', repository };
    }
    return { found: 'request', address: pullRequest.address, head: pullRequest.head };
  } catch (error) {
    return { found: 'unknown', why: getErrorMessage(error) };
  }
}
