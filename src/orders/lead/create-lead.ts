import { createStrandedReport, deliverDue, type DeliveryReport } from './deliver.js';
import { createLeadContext, type LeadContext, type LeadOptions } from './lead-context.js';
import { LeadError } from '../orders-error.js';
import { previewResolution, resolveItem, type ResolveRequest, type ResolveResult } from './resolve.js';
import { readResult, settle, type OrderName, type Settlement, type WorkerEnd } from './settle.js';
import { submit, type SubmitOptions, type SubmittedOrder } from './submit.js';
import { getRepository, type Reading } from '../../store/records/index.js';
import type { Checks } from '../proof/checks.js';
import { parsePullRequest, type PullRequestFinding } from '../proof/pull-request.js';
import type { GitFilters } from '../git/run-git.js';
import type { Repo } from '../repos/repos.js';
import type { Wrappers } from '../wrappers/wrappers.js';
import { getErrorMessage } from '../../base/index.js';

/** The delegating side: submits orders, settles their results, asks humans and comments on the issues. */
export interface Lead {
  /** The configured wrappers, by name. */
  readonly wrappers: Wrappers;
  /** The configured checks, by name. */
  readonly checks: Checks;
  /** The configured repositories. */
  readonly repos: readonly Repo[];
  /** The git filters that may run on files in worktrees and checks. */
  readonly filters: GitFilters;
  /** Checks a request, assigns its run id, makes it active and queues it. */
  submit(request: unknown, options?: SubmitOptions): Promise<SubmittedOrder>;
  /** Reads an agent's report without deciding, for callers that gather evidence before the order is settled. */
  read(end: OrderName & WorkerEnd): Promise<Reading>;
  /** Looks up a pull request in the issue's repository, with a sink's credentials. */
  findPullRequest(issueRef: string, name: string): Promise<PullRequestFinding>;
  /** Whether the commit is the result of one of the issue's last hundred orders. */
  hasCommit(issueRef: string, commit: string): Promise<boolean>;
  /** Masks secrets, as is done in everything that agents report. */
  readonly maskText: (text: string) => string;
  /**
   * Reads a result, decides on it, and stores both together with the end of the run in one transaction. A repeat
   * returns the first decision.
   */
  settle(end: OrderName & WorkerEnd): Promise<Settlement>;
  /** Sends every comment that is due. After the signal is aborted, only deliveries in progress are finished. */
  deliver(options?: { readonly signal?: AbortSignal }): Promise<DeliveryReport>;
  /** Records a human decision. */
  resolve(request: ResolveRequest): Promise<ResolveResult>;
  /** Returns the comment that a decision would write. Records nothing; rejects the same requests as `resolve`. */
  preview(request: ResolveRequest): Promise<string>;
  /** Waits for calls in progress; every later call fails with `LEAD_CLOSED`. The store belongs to the caller and stays open. */
  close(): Promise<void>;
}

/**
 * Creates a lead on top of a store.
 *
 * @example
 * const lead = createLead({ store, wrappers, sinks })
 * const { order, run } = await lead.submit({ issue_ref: 'acme/shop#12', role: 'backend', repo_dir, worker: 'codex-cli', instructions })
 * const { decision } = await lead.settle({ issueRef: order.issue_ref, runId: order.run_id, exitCode: 0, stdout, stderr })
 * await lead.deliver()
 */
export function createLead(options: LeadOptions): Lead {
  const context = createLeadContext(options);
  const inProgress = new Set<Promise<unknown>>();
  let isClosed = false;

  async function track<T>(work: () => Promise<T>): Promise<T> {
    if (isClosed) throw new LeadError('LEAD_CLOSED', 'The lead is closed. Create a new one.');
    const promise = work();
    inProgress.add(promise);
    try {
      return await promise;
    } finally {
      inProgress.delete(promise);
    }
  }
  const reportStranded = createStrandedReport(context);
  const deliver = async (signal?: AbortSignal) => {
    const report = await deliverDue({
      ...context,
      signal,
      // A different name for every call: concurrent calls must not be mistaken for each other.
      workerId: `${context.leadId}/${context.newId()}`,
    });
    await reportStranded();
    return report;
  };

  return {
    wrappers: context.wrappers,
    checks: context.checks,
    repos: context.repos,
    filters: context.filters,
    read: async (end) => track(async () => readResult(context, end)),
    findPullRequest: async (issueRef, name) => track(async () => findPullRequest(context, issueRef, name)),
    hasCommit: async (issueRef, commit) =>
      track(async () => {
        const { items } = await context.store.listOrders({ issueRef, limit: 100 });
        return items.some(({ result }) => result?.changes.commit === commit);
      }),
    maskText: (text) => context.secrets.maskText(text),
    submit: async (request, submitOptions) => track(async () => submit(context, request, submitOptions)),
    settle: async (end) => track(async () => settle(context, end)),
    deliver: async (deliverOptions) => track(async () => deliver(deliverOptions?.signal)),
    resolve: async (request) => track(async () => resolveItem(context, request)),
    preview: async (request) => track(async () => previewResolution(context, request)),
    async close() {
      isClosed = true;
      await Promise.allSettled(inProgress);
    },
  };
}

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
