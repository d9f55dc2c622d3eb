/*
 * owner/repo#12, group/sub/project#12, local#anything. The alternatives cannot match the same text, so matching takes linear
 * time. A part may start with one dot (`.github`), but is never `.` or `..`.
 */
const PART = '\\.?[A-Za-z0-9_][A-Za-z0-9_.-]*';

/** The pattern of an issue reference, for JSON Schema. */
export const ISSUE_REF_PATTERN = `^(?:local#[A-Za-z0-9][A-Za-z0-9._-]*|${PART}(?:/${PART})+#[1-9][0-9]{0,14})$`;

/** Short enough for the name of a comment file, with its extension. */
export const ISSUE_REF_LENGTH = 200;

const issueRef = new RegExp(ISSUE_REF_PATTERN);

/**
 * Whether a text is an issue reference in the form that people write.
 *
 * @example
 * isIssueRef('acme/shop#12') // true
 * isIssueRef('I_kwDOABCD12') // false: an internal id of a forge
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
 * Converts an issue reference to a file name. Two references may share one (`a/b_c#1`, `a/b/c#1`); the file's content names the issue.
 *
 * @example
 * toFileName('acme/shop#12') // 'acme_shop_12'
 */
export function toFileName(reference: string): string {
  return reference.replaceAll(/[/#:\\]/g, '_');
}

/** Returns the repository of an issue; undefined for local issues. */
export function getRepository(reference: string): string | undefined {
  const repository = reference.slice(0, reference.lastIndexOf('#'));
  return repository === 'local' || repository === '' ? undefined : repository;
}
