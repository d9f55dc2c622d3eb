/*
 * owner/repo#12, group/sub/project#12, local#anything. No two alternatives begin alike, so matching takes linear time.
 * A part may begin with one point (`.github`), and is never `.` or `..`.
 */
const PART = '\\.?[A-Za-z0-9_][A-Za-z0-9_.-]*';

/** The pattern of an issue reference, for JSON Schema. */
export const ISSUE_REF_PATTERN = `^(?:local#[A-Za-z0-9][A-Za-z0-9._-]*|${PART}(?:/${PART})+#[1-9][0-9]{0,14})$`;

/** Short enough for a file name with the extension of a comment file. */
export const ISSUE_REF_LENGTH = 200;

const issueRef = new RegExp(ISSUE_REF_PATTERN);

/**
 * Whether a text is an issue reference as people write it.
 *
 * @example
 * isIssueRef('acme/shop#12') // true
 * isIssueRef('I_kwDOABCD12') // false: an id only a forge's API knows
 */
export function isIssueRef(text: string): boolean {
  return text.length <= ISSUE_REF_LENGTH && issueRef.test(text);
}

/** Describes what to write instead of an invalid issue reference. */
export function describeIssueRef(text: string): string {
  const address = /^https?:\/\/[^/\s]+\/([^\s#?]+?)\/(?:-\/)?(?:issues|work_items)\/([1-9]\d*)/.exec(
    text.slice(0, 500),
  );
  const fromAddress = `${address?.[1]}#${address?.[2]}`;
  if (address !== null && isIssueRef(fromAddress)) return `write ${fromAddress} instead of the address`;
  if (/^(?:gid:|I_|MDU6|\d+$)/.test(text)) {
    return 'internal ids of a forge are not accepted; write owner/repo#12, group/project#12 or local#id';
  }
  return 'write owner/repo#12, group/sub/project#12 or local#id';
}

/**
 * The issue reference as a file name. Two references may share one (`a/b_c#1`, `a/b/c#1`); the file's content names the issue.
 *
 * @example
 * toFileName('acme/shop#12') // 'acme_shop_12'
 */
export function toFileName(reference: string): string {
  return reference.replaceAll(/[/#:\\]/g, '_');
}

/** The repository an issue belongs to; undefined for local issues. */
export function getRepository(reference: string): string | undefined {
  const place = reference.slice(0, reference.lastIndexOf('#'));
  return place === 'local' || place === '' ? undefined : place;
}
