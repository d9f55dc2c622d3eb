import type { Evidence } from '../../store/records/index.js';
import { dropFullStop, showLine } from '../plain-text.js';

const NUMBER = '([1-9][0-9]{0,14})';
const REPOSITORY = '([A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+?)';
const ADDRESS = new RegExp(
  `^https?://([^/\\s@?#]+)/${REPOSITORY}/(?:pulls?|-/merge_requests|merge_requests)/${NUMBER}(?:[/?#].*)?$`,
);
const WITH_REPOSITORY = new RegExp(`^${REPOSITORY}[#!]${NUMBER}$`);
const NUMBER_ALONE = new RegExp(`^(?:PR|MR)?\\s*[#!]?${NUMBER}$`, 'i');

/** Parses the pull request reference in a result: a URL, a repository and a number, or a number alone. */
export function parsePullRequest(
  text: string,
): { readonly host?: string; readonly repository?: string; readonly number: number } | undefined {
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

/** Judges a pull request: it must exist, belong to the repository, and have the commit as its head. */
export function judgePullRequest(finding: PullRequestFinding, name: string, commit: string | undefined): Evidence {
  const shownName = showLine(name, 200);
  const judge = (verdict: Evidence['verdict'], what: string): Evidence => ({
    claim: 'pr',
    by: finding.found === 'unknown' ? 'worker' : 'sluice',
    verdict,
    detail: `${shownName} ${what}.`,
  });
  switch (finding.found) {
    case 'unknown':
      return judge('unchecked', `could not be looked up: ${dropFullStop(finding.why)}`);
    case 'missing':
      return judge('contradicted', `does not exist in ${finding.repository}`);
    case 'elsewhere':
      return judge('contradicted', `does not belong to ${finding.repository}`);
    case 'request': {
      const head = finding.head.slice(0, 12);
      if (commit === undefined)
        return judge('unchecked', `exists; its head ${head} is not in the repository and could not be compared`);
      const shownCommit = commit.slice(0, 12);
      return finding.head.startsWith(commit)
        ? judge('confirmed', `exists, with the head ${shownCommit}`)
        : judge('contradicted', `has the head ${showLine(head, 12)} instead of ${showLine(shownCommit, 12)}`);
    }
  }
}
