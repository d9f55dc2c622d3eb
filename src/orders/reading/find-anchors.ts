import { RESULT_STATUSES, isIssueRef, parseRunId } from '../../records/index.js';
import type { Reading } from '../../records/index.js';
import { foldKey } from '../shapes/spelling.js';

// `IssueRef: acme/shop#12`, `"run_id": "…"`, `status=ok`; bounded, so that hostile output costs no more than its length.
const ANCHOR = /\b(issue_?ref|run_?id|status)["'`]?[ \t]{0,8}[:=][ \t]{0,8}["'`]?([^\s"'`,;}]{1,200})/gi;

const IS_ANCHOR = {
  issueref: isIssueRef,
  runid: (text: string) => parseRunId(text) !== undefined,
  status: (text: string) => RESULT_STATUSES.some((status) => status === text),
} as const;

/** What a stream says in passing about which issue, run and status it is; of several the last. */
export function findAnchors(text: string): NonNullable<Reading['anchors']> {
  const found: { issue_ref?: string; run_id?: string; status?: string } = {};
  for (const [, key = '', value = ''] of text.matchAll(ANCHOR)) {
    switch (foldKey(key)) {
      case 'issueref':
        if (IS_ANCHOR.issueref(value)) found.issue_ref = value;
        break;
      case 'runid':
        if (IS_ANCHOR.runid(value)) found.run_id = value;
        break;
      default:
        if (IS_ANCHOR.status(value.toLowerCase())) found.status = value.toLowerCase();
    }
  }
  return found;
}
