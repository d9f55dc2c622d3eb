/*
 * owner/repo#12, group/sub/project#12, local#anything. The alternatives cannot match the same input, so matching takes
 * linear time. A segment can start with one dot (`.github`), but is never `.` or `..`.
 */
const SEGMENT = '\\.?[A-Za-z0-9_][A-Za-z0-9_.-]*';

/** Matches an issue reference, in JSON Schema. */
export const ISSUE_REF_PATTERN = `^(?:local#[A-Za-z0-9][A-Za-z0-9._-]*|${SEGMENT}(?:/${SEGMENT})+#[1-9][0-9]{0,14})$`;

/** Short enough to be a comment file's name, including the extension. */
export const ISSUE_REF_LENGTH = 200;

const issueRefRegExp = new RegExp(ISSUE_REF_PATTERN);

/**
 * Whether a string is an issue reference as people write it.
 *
 * @example
 * isIssueRef('acme/shop#12') // true
 * isIssueRef('I_kwDOABCD12') // false: a forge's internal id
 */
export function isIssueRef(text: string): boolean {
  return text.length <= ISSUE_REF_LENGTH && issueRefRegExp.test(text);
}

/** Describes what to write instead of an invalid issue reference. */
export function describeIssueRef(text: string): string {
  const url = /^https?:\/\/[^/\s]+\/([^\s#?]+?)\/(?:-\/)?(?:issues|work_items)\/([1-9]\d*)/.exec(text.slice(0, 500));
  const reference = `${url?.[1]}#${url?.[2]}`;
  if (url !== null && isIssueRef(reference)) return `write ${reference} instead of the URL`;
  if (/^(?:gid:|I_|MDU6|\d+$)/.test(text)) {
    return "a forge's internal ids are not accepted; write owner/repo#12, group/project#12 or local#id";
  }
  return 'write owner/repo#12, group/sub/project#12 or local#id';
}

/**
 * Converts an issue reference to a file name. Two references can share one (`a/b_c#1`, `a/b/c#1`); the file's content
 * names the issue.
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
