import type { Evidence } from '../../store/records/index.js';
import { dropFullStop, showLine } from '../plain-text.js';

/** A pull request as named in a result: by URL, by repository and number, or by number alone. */
export interface NamedPullRequest {
  readonly host?: string;
  readonly repository?: string;
  readonly number: number;
}

const NUMBER = '([1-9][0-9]{0,14})';
const REPOSITORY = '([A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+?)';
const ADDRESS = new RegExp(
  `^https?://([^/\\s@?#]+)/${REPOSITORY}/(?:pulls?|-/merge_requests|merge_requests)/${NUMBER}(?:[/?#].*)?$`,
);
const WITH_REPOSITORY = new RegExp(`^${REPOSITORY}[#!]${NUMBER}$`);
const NUMBER_ALONE = new RegExp(`^(?:PR|MR)?\\s*[#!]?${NUMBER}$`, 'i');

/**
 * Parses the pull request reference in a result.
 *
 * @example
 * parsePullRequest('https://github.com/acme/shop/pull/7') // { host: 'github.com', repository: 'acme/shop', number: 7 }
 */
export function parsePullRequest(text: string): NamedPullRequest | undefined {
  const name = text.trim().slice(0, 1000);
  const [, host, path, number] = ADDRESS.exec(name) ?? [];
  if (host !== undefined && path !== undefined) {
    return { host: host.toLowerCase(), repository: path, number: Number(number) };
  }
  const [, repository, numberInside] = WITH_REPOSITORY.exec(name) ?? [];
  if (repository !== undefined) return { repository, number: Number(numberInside) };
  const [, numberAlone] = NUMBER_ALONE.exec(name) ?? [];
  return numberAlone === undefined ? undefined : { number: Number(numberAlone) };
}

/** The outcome of looking up a pull request. */
export type PullRequestFinding =
  /** The pull request could not be looked up, or the forge did not respond. */
  | { readonly found: 'unknown'; readonly why: string }
  | { readonly found: 'missing'; readonly repository: string }
  | { readonly found: 'elsewhere'; readonly repository: string }
  | { readonly found: 'request'; readonly address: string; readonly head: string };

/**
 * Judges a pull request: it must exist, belong to the repository, and have the commit as its head.
 *
 * @example
 * judgePullRequest({ found: 'missing', repository: 'acme/shop' }, '#7', undefined).verdict // 'contradicted'
 */
export function judgePullRequest(finding: PullRequestFinding, name: string, commit: string | undefined): Evidence {
  const shownName = showLine(name, 200);
  const contradict = (why: string): Evidence => ({
    claim: 'pr',
    by: 'sluice',
    verdict: 'contradicted',
    detail: `${shownName} ${why}.`,
  });
  switch (finding.found) {
    case 'unknown':
      return {
        claim: 'pr',
        by: 'worker',
        verdict: 'unchecked',
        detail: `${shownName} could not be looked up: ${dropFullStop(finding.why)}.`,
      };
    case 'missing':
      return contradict(`does not exist in ${finding.repository}`);
    case 'elsewhere':
      return contradict(`does not belong to ${finding.repository}`);
    case 'request': {
      const { head } = finding;
      if (commit === undefined) {
        const detail = `${shownName} exists; its head ${head.slice(0, 12)} is not in the repository and could not be compared.`;
        return { claim: 'pr', by: 'sluice', verdict: 'unchecked', detail };
      }
      if (!head.startsWith(commit)) {
        return contradict(
          `has the head ${showLine(head.slice(0, 12), 12)} instead of ${showLine(commit.slice(0, 12), 12)}`,
        );
      }
      return {
        claim: 'pr',
        by: 'sluice',
        verdict: 'confirmed',
        detail: `${shownName} exists, with the head ${commit.slice(0, 12)}.`,
      };
    }
  }
}
