import { inFile } from '../run-mutation.js';
import type { Mutation } from '../run-mutation.js';

/**
 * Mutations for section 004 of `docs/requirements.md` (workers and their results): each breaks a clause in the file
 * that implements it.
 */
export const ORDERS: readonly Mutation[] = [
  ...inFile(
    'src/orders/decide/decide.ts',
    [
      'FR-05: the result of an inactive run is archived and changes nothing.',
      "if (activeRunId === order.run_id && order.run_id !== '') return undefined;",
      'if (order.run_id !== undefined) return undefined;',
    ],
    [
      'A result that names another run counts for neither.',
      ' && result.run_id === order.run_id) return undefined;',
      ') return undefined;',
    ],
    ['A result that names another issue counts for neither.', 'if (result.issue_ref === order.issue_ref && ', 'if ('],
    [
      'FR-07: an unreadable result goes to human review.',
      "return { action: 'needs-human', result_code, reason, next };",
      "return { action: 'blocked', result_code, reason, next };",
    ],
    [
      'FR-07: a result without evidence goes to human review.',
      'if (problems.length === 0) return undefined;',
      'if (problems.length < 9) return undefined;',
    ],
    [
      '… and goes to human review; it never advances.',
      "return { action: 'needs-human', result_code, reason, next };",
      "return { action: 'blocked', result_code, reason, next };",
    ],
    [
      'Only a complete result of the active run is written back automatically.',
      'if (end.signal !== null || end.exitCode !== 0) objections.push(describeExit(end));',
      '',
    ],
    [
      '`fail` is written back as blocked, with the reason.',
      "    case 'fail':\n      return {\n        action: 'blocked',",
      "    case 'fail':\n      return {\n        action: 'needs-human',",
    ],
    [
      '`blocked` is written back as blocked, with the reason.',
      "    case 'blocked':\n      return {\n        action: 'blocked',",
      "    case 'blocked':\n      return {\n        action: 'needs-human',",
    ],
  ),
  ...inFile(
    'src/orders/reading/read-work-result.ts',
    [
      'FR-04: JSON takes precedence over text, and the source is recorded.',
      "{ source: 'json', name: 'work_result.json', read: readJsonResult },\n",
      "{ source: 'json', name: 'work_result.none', read: readJsonResult },\n",
    ],
    [
      '`work_result.txt` is read if `work_result.json` does not exist.',
      "name: 'work_result.txt', read: readTextResult",
      "name: 'work_result.none', read: readTextResult",
    ],
    [
      'FR-02: JSON and text are both accepted, with the same result.',
      "  const summary = [header.get('summary') ?? '', body]",
      "  const summary = [header.get('summary') ?? '']",
    ],
    [
      'FR-03: text has fixed header keys.',
      'const header = blank < 0 ? lines : lines.slice(0, blank);',
      'const header = lines.filter((line) => HEADER.test(line));',
    ],
    [
      '`work_result.json` is read first.',
      "{ source: 'json', name: 'work_result.json', read: readJsonResult },\n",
      "{ source: 'json', name: 'work_result.none', read: readJsonResult },\n",
    ],
    [
      'Printed output yields at most anchors.',
      "    source: 'streams',\n    path: Object.keys",
      "    source: 'text',\n    path: Object.keys",
    ],
    [
      '… even for an agent that answers with JSON without tags.',
      '  if (answer !== undefined) return readAnswer(answer);\n',
      '',
    ],
    [
      'Scenario D: whatever the wrapper type, the rules and the comment are the same.',
      "name: 'work_result.txt', read: readTextResult",
      "name: 'work_result.none', read: readTextResult",
    ],
    [
      'AC-01, scenarios A, B and C: a JSON worker and a text worker end in a delivered comment, a worker that only prints goes to human review.',
      "name: 'work_result.txt', read: readTextResult",
      "name: 'work_result.none', read: readTextResult",
    ],
  ),
  ...inFile(
    'src/orders/reading/normalize-result.ts',
    [
      'IssueRef is required.',
      "collect(readRequiredText('issue_ref', known))",
      "(collect(readOptionalText('issue_ref', known)) ?? '')",
    ],
    [
      'RunId is required.',
      "collect(readRequiredText('run_id', known))",
      "(collect(readOptionalText('run_id', known)) ?? '')",
    ],
    [
      'Status is required.',
      'collect(readStatus(known))',
      "(known.get('status') === null ? 'ok' : collect(readStatus(known)))",
    ],
    [
      'A commit can be named by the URL of its page on the forge.',
      '(COMMIT.exec(commit) ?? COMMIT_PAGE.exec(commit))',
      'COMMIT.exec(commit)',
    ],
    [
      '`blocked_by` is optional, and included if present.',
      '...(blockedBy.length === 0 ? {} : { blocked_by: blockedBy }),',
      '',
    ],
    ['`questions` is optional, and included if present.', '...(questions.length === 0 ? {} : { questions }),', ''],
    [
      'AC-03: a missing field never leads to review or done.',
      "collect(readRequiredText('run_id', known))",
      "(collect(readOptionalText('run_id', known)) ?? '2026-11-15-backend-0001')",
    ],
  ),
  ...inFile(
    'src/orders/evidence/missing-evidence.ts',
    [
      'A pull request or a commit must be named.',
      'isMissing(result.changes.pr) && isMissing(result.changes.commit)) {',
      'result.changes === null) {',
    ],
    ['Either is enough.', 'isMissing(result.changes.pr) && isMissing', 'isMissing(result.changes.pr) || isMissing'],
    [
      'Tests must be named; `n/a` is accepted.',
      "return tests !== 'n/a' && tests.result",
      "return tests === 'n/a' || tests.result",
    ],
    [
      'Unmentioned tests count as missing.',
      "if (tests === undefined) return 'it does not",
      "if (tests === null) return 'it does not",
    ],
    [
      'A result whose tests were not run goes to human review.',
      "tests.result === 'not_run' ?",
      "tests.result === 'fail' ?",
    ],
  ),
  ...inFile(
    'src/orders/wrappers/wrappers.ts',
    [
      'FR-01: workers are only called through a wrapper.',
      "  throw new OrdersError(\n    'UNKNOWN_WORKER',",
      "  if (name !== '') return { type: 'script', command: [name] };\n  throw new OrdersError(\n    'UNKNOWN_WORKER',",
    ],
    [
      'Wrappers are chosen by wrapper type; agents and custom scripts are such types.',
      'if (wrapper !== undefined) return wrapper;\n  if (findAgentEngine(name) !== undefined) return { type: name };',
      'if (findAgentEngine(name) !== undefined) return { type: name };\n  if (wrapper !== undefined) return wrapper;',
    ],
  ),
  ...inFile(
    'src/orders/comment/render-comment.ts',
    ["FR-06: the result is mapped to the comment's fields before it goes to the outbox.", '`> ${line}`', 'line'],
    [
      'Unrecognised wording is labelled as such.',
      "not_recognised: 'result not recognised',",
      "not_recognised: 'pass',",
    ],
    ['Write-backs follow the comment template.', '    SpecRef: order.spec_ref,\n', ''],
    [
      'A result that is not accepted gets a comment with the reason.',
      "return [toLine(decision.reason), comments.length === 0 ? '' : lineComments, agentText]",
      "return [comments.length === 0 ? '' : lineComments, agentText]",
    ],
    ['… and with the next step.', 'Next: toLine(decision.next),', "Next: 'none',"],
    ['… and never with a success.', "return action === 'advance' ? 'update' : 'blocked';", "return 'update';"],
    [
      'AC-02: a complete text result is normalised and written to the outbox.',
      'Repo: getRepository',
      'Repository: getRepository',
    ],
  ),
  ...inFile(
    'src/orders/execution.ts',
    [
      'FR-08: every execution records the wrapper type.',
      'worker_type: execution.workerType,',
      'worker_type: order.worker,',
    ],
    [
      'FR-08: every execution records the duration.',
      'duration_ms: execution.durationMs ?? null,',
      'duration_ms: null,',
    ],
    [
      'FR-08: every execution records the exit code.',
      '    exit_code: execution.exitCode,\n    signal: execution.signal,\n    result_encoding',
      '    exit_code: null,\n    signal: execution.signal,\n    result_encoding',
    ],
    [
      'FR-08: every execution records the encoding of the result.',
      'result_encoding: reading.source,',
      "result_encoding: 'none',",
    ],
    [
      'FR-08: every execution records the parse status.',
      'parse_status: getParseStatus(reading),',
      "parse_status: 'missing',",
    ],
    [
      'AC-05: executions record how every result was parsed and what was decided.',
      '    decision: decision.action,',
      "    decision: 'archive',",
    ],
    [
      'Result readers are versioned, and the record names the version.',
      'parser_version: READER_VERSION,',
      "parser_version: '',",
    ],
  ),
  ...inFile(
    'src/dispatch/order/inject-order.ts',
    ['The order is passed as a file.', "{ path: 'work_order.json', text:", "{ path: 'order.json', text:"],
    [
      '… as arguments.',
      "inject === 'args' && !hasPlaceholder ? [path] : []",
      "inject === 'args' && hasPlaceholder ? [path] : []",
    ],
    ['… or in the environment.', '    SLUICE_INSTRUCTIONS: order.instructions,\n', ''],
    [
      'FR-01: every wrapper type gets the same order, and its result is parsed by the same rules.',
      '  const files = listContextPack(workerOrder);',
      "  const files = wrapper.type === 'script' ? [] : listContextPack(workerOrder);",
    ],
  ),
  ...inFile('src/orders/reading/result-fields.ts', [
    'They are also accepted at the top level of the JSON.',
    '      changes.set(name, fields.get(name));\n',
    '',
  ]),
  ...inFile(
    'src/orders/reading/read-tests.ts',
    [
      'Test results can also be described in words.',
      "return PASSED.test(cleaned) || remaining !== cleaned || exit !== undefined ? 'pass' : 'not_recognised';",
      "return 'not_recognised';",
    ],
    ['Words that mean failure contradict `ok`.', 'const isFailed = FAILED.test(remaining) ||', 'const isFailed ='],
  ),
  ...inFile(
    'src/orders/shapes/spelling.ts',
    [
      'The normalised result has the eight fields in one spelling, whether the input uses PascalCase …',
      "return key.replaceAll('_', '').toLowerCase();",
      "return key.replaceAll('_', '');",
    ],
    [
      '… or snake_case.',
      "return key.replaceAll('_', '').toLowerCase();",
      "return key.includes('_') ? key.toUpperCase() : key.toLowerCase();",
    ],
  ),
  ...inFile('src/orders/comment/issue-state.ts', [
    'AC-03: a decision never ends in done.',
    "    case 'advance':\n      return 'review';",
    "    case 'advance':\n      return 'done';",
  ]),
  ...inFile('src/orders/lead/settle.ts', [
    'AC-04: … and its decision names the active run.',
    'activeRunId: active === runId ? undefined : active }',
    'activeRunId: null }',
  ]),
  ...inFile('src/server/metrics/run-metrics.ts', [
    'Metric 3: complete comments are counted.',
    "complete: String(parse_status === 'parsed')",
    "complete: String(parse_status !== 'missing')",
  ]),
  ...inFile('src/store/sqlite/orders.ts', [
    'Metric 4: an old run never changes a state, even with multiple concurrent runs.',
    '  WHERE issue_ref = ? AND active_run_id = ?`;',
    '  WHERE issue_ref = ? AND active_run_id != ?`;',
  ]),
  ...inFile('src/store/memory/orders.ts', [
    'AC-04: a late result of an old run does not affect the active one.',
    'const isActive = issue.record.active_run_id === runId;',
    "const isActive = issue.record.active_run_id !== '';",
  ]),
];
