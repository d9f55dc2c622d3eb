import type { Evidence } from '../../records/index.js';
import { showLine } from '../plain-text.js';

/** A pull request as a result names it: by its address, with its repository, or by its number alone. */
export interface NamedPullRequest {
  readonly host?: string;
  readonly repository?: string;
  readonly number: number;
}

const NUMBER = '([1-9][0-9]{0,14})';
const PLACE = '([A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+?)';
const ADDRESS = new RegExp(
  `^https?://([^/\\s@?#]+)/${PLACE}/(?:pulls?|-/merge_requests|merge_requests)/${NUMBER}(?:[/?#].*)?$`,
);
const WITH_REPOSITORY = new RegExp(`^${PLACE}[#!]${NUMBER}$`);
const ALONE = new RegExp(`^(?:PR|MR)?\\s*[#!]?${NUMBER}$`, 'i');

/**
 * Reads how a result names a pull request.
 *
 * @example
 * parsePullRequest('https://github.com/acme/shop/pull/7') // { host: 'github.com', repository: 'acme/shop', number: 7 }
 */
export function parsePullRequest(text: string): NamedPullRequest | undefined {
  const named = text.trim().slice(0, 1000);
  const [, host, place, number] = ADDRESS.exec(named) ?? [];
  if (host !== undefined && place !== undefined) {
    return { host: host.toLowerCase(), repository: place, number: Number(number) };
  }
  const [, repository, inside] = WITH_REPOSITORY.exec(named) ?? [];
  if (repository !== undefined) return { repository, number: Number(inside) };
  const [, alone] = ALONE.exec(named) ?? [];
  return alone === undefined ? undefined : { number: Number(alone) };
}

/** The outcome of looking up a pull request. */
export type PullRequestFinding =
  /** It could not be looked up, or the forge did not answer. */
  | { readonly found: 'nothing'; readonly why: string }
  | { readonly found: 'missing'; readonly repository: string }
  | { readonly found: 'elsewhere'; readonly repository: string }
  | { readonly found: 'request'; readonly address: string; readonly head: string };

/**
 * Judges a pull request: it exists, belongs to the repository, and its head is the commit.
 *
 * @example
 * judgePullRequest({ found: 'missing', repository: 'acme/shop' }, '#7', undefined).verdict // 'contradicted'
 */
export function judgePullRequest(finding: PullRequestFinding, named: string, commit: string | undefined): Evidence {
  const shown = showLine(named, 200);
  const contradicted = (why: string): Evidence => ({
    claim: 'pr',
    by: 'sluice',
    verdict: 'contradicted',
    detail: `${shown} ${why}.`,
  });
  switch (finding.found) {
    case 'nothing':
      return { claim: 'pr', by: 'worker', verdict: 'unchecked', detail: `${shown} was not looked up: ${finding.why}.` };
    case 'missing':
      return contradicted(`does not exist in ${finding.repository}`);
    case 'elsewhere':
      return contradicted(`does not belong to ${finding.repository}`);
    case 'request': {
      const { head } = finding;
      if (commit === undefined) {
        const detail = `${shown} exists; its head ${head.slice(0, 12)} is not in the repository and could not be compared.`;
        return { claim: 'pr', by: 'sluice', verdict: 'unchecked', detail };
      }
      if (!head.startsWith(commit)) {
        return contradicted(
          `has the head ${showLine(head.slice(0, 12), 12)} instead of ${showLine(commit.slice(0, 12), 12)}`,
        );
      }
      return {
        claim: 'pr',
        by: 'sluice',
        verdict: 'confirmed',
        detail: `${shown} exists, with the head ${commit.slice(0, 12)}.`,
      };
    }
  }
}
