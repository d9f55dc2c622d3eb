/** The state that is checked before a release. */
export interface ReleaseState {
  readonly version: string;
  /** The URL of the repository in the manifest; provenance is checked against it. */
  readonly repository: string | undefined;
  /** The other URLs in the manifest: of the home page, and for bugs. */
  readonly addresses: readonly string[];
  readonly branch: string;
  /** Changed files according to git, one line each. */
  readonly changes: readonly string[];
  readonly tags: readonly string[];
  readonly changelog: string;
}

/** URLs that have not been set yet. */
const PLACEHOLDER = /\bexample\.(?:org|com|net)\b/;
const VERSION = /^\d+\.\d+\.\d+(?:-[\da-z.-]+)?$/;

/** Lists everything that prevents a release, as messages. */
export function checkRelease(state: ReleaseState): string[] {
  const { version, repository, addresses, branch, changes, tags, changelog } = state;
  const notes = findNotes(changelog, version);
  return [
    ...(changes.length === 0 ? [] : [`${changes.length} files are not committed: commit or stash them`]),
    ...(branch === 'main' ? [] : [`releases are made from main, not from ${branch}`]),
    ...(VERSION.test(version) ? [] : [`"${version}" is not a version: set one with npm version --no-git-tag-version`]),
    ...(tags.includes(`v${version}`) ? [`v${version} was released before: raise the version in package.json`] : []),
    ...(notes === undefined ? [`CHANGELOG.md has no section "## ${version}"`] : []),
    ...(notes === '' ? [`the section "## ${version}" of CHANGELOG.md is empty`] : []),
    ...(repository === undefined ? ['package.json names no repository: provenance cannot be proven without it'] : []),
    ...[repository ?? '', ...addresses]
      .filter((address) => PLACEHOLDER.test(address))
      .map((address) => `package.json has the placeholder ${address}: replace it with the project's address`),
  ];
}

/** Finds a version's section in the change log. */
export function findNotes(changelog: string, version: string): string | undefined {
  const section = changelog.split(/^## /m).find((text) => /^\[?([\w.-]+)/.exec(text)?.[1] === version);
  return section?.slice(section.indexOf('\n')).trim();
}
