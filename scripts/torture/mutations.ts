import type { Mutation } from './run-mutation.js';

const RETRY = 'src/json/generate-and-parse.ts';
const PIPELINE = 'src/json/pipeline.ts';
const STRICT = 'src/json/find/strict-spans.ts';
const COMPLETION = 'src/events/end/completion.ts';
const DECIDE = 'src/orders/decide/decide.ts';
const EVIDENCE = 'src/orders/evidence/missing-evidence.ts';
const NORMALIZE = 'src/orders/reading/normalize-result.ts';
const GEMINI = 'src/events/engines/gemini/gemini-document.ts';
const CODEX_ITEMS = 'src/events/engines/codex/codex-items.ts';
const IFLOW_WORDS = 'src/events/engines/iflow/iflow-words.ts';

/** Clauses of `docs/requirements.md`, each broken where it is written. The tests that its row names must notice. */
export const MUTATIONS: readonly Mutation[] = [
  {
    clause: 'Step 3a: code fences are peeled off.',
    file: STRICT,
    search: "yield strictSpan('fence', end - (match[1]?.length ?? 0), end);",
    replace: '',
  },
  {
    clause: 'Step 3c: the first JSON object is taken out of the text around it.',
    file: STRICT,
    search: '  yield* findFirstObject(text, 0, text.length);\n',
    replace: '',
  },
  {
    clause: '`repair_level` is `none` without a repair.',
    file: PIPELINE,
    search: "repairs.length > 0 ? 'deterministic_generic' : 'none'",
    replace: "'deterministic_generic'",
  },
  {
    clause:
      '`repair_level` is `deterministic_generic`, with the warning `OUTPUT_REPAIRED_GENERIC`, after a repair: fence.',
    file: PIPELINE,
    search: "if (repairs.length > 0) warn('OUTPUT_REPAIRED_GENERIC'",
    replace: "if (repairs.length > 99) warn('OUTPUT_REPAIRED_GENERIC'",
  },
  {
    clause: 'Of several blocks the last one counts.',
    file: 'src/json/find/spans.ts',
    search: 'const last = blocks.findLast(',
    replace: 'const last = blocks.find(',
  },
  {
    clause: 'Step 2: `<think>` blocks are stripped.',
    file: STRICT,
    search: 'return text.replace(CLOSED_THINK',
    replace: 'return text.replace(/never/',
  },
  {
    clause: 'Step 3: from the first fence to the last, without the language.',
    file: STRICT,
    search: "text.lastIndexOf('```')",
    replace: "text.indexOf('```', (OUTER_FENCES.exec(text)?.[0].length ?? 0))",
  },
  {
    clause: 'When parsing fails, the model is asked again with the error summary.',
    file: RETRY,
    search: '${label}${summary}',
    replace: '${label}',
  },
  { clause: 'The wording of the document.', file: RETRY, search: '错误信息：', replace: '错误：' },
  {
    clause: 'At most one retry by default: two calls.',
    file: RETRY,
    search: 'maxRetries = 1,',
    replace: 'maxRetries = 2,',
  },
  {
    clause: '0 turns retries off.',
    file: RETRY,
    search: 'attempt > maxRetries',
    replace: 'attempt > Math.max(1, maxRetries)',
  },
  {
    clause: 'The caller may set more than one.',
    file: RETRY,
    search: 'attempt > maxRetries',
    replace: 'attempt > Math.min(1, maxRetries)',
  },
  {
    clause: 'A retry sends the correction and the original prompt.',
    file: RETRY,
    search: '${task}\\n\\n${prompt}`',
    replace: '${task}`',
  },
  {
    clause: 'A retry sends no history: neither an earlier answer nor an earlier correction.',
    file: RETRY,
    search: 'renderRetryPrompt(retryPrompt, error, options.prompt)',
    replace: 'renderRetryPrompt(retryPrompt, error, prompt)',
  },
  {
    clause: "Every call goes through the caller's own function, so that it can be audited.",
    file: RETRY,
    search: 'onAttempt?.({ attempt, prompt, raw, result });',
    replace: 'if (result.ok) onAttempt?.({ attempt, prompt, raw, result });',
  },
  {
    clause: 'The system message is passed in every call.',
    file: RETRY,
    search: 'call({ prompt, systemMessage,',
    replace: 'call({ prompt, systemMessage: undefined,',
  },
  {
    clause: 'The temperature is passed in every call.',
    file: RETRY,
    search: 'temperature, signal, attempt }',
    replace: 'temperature: 0.7, signal, attempt }',
  },
  {
    clause: 'The temperature is 0.7 by default.',
    file: RETRY,
    search: 'temperature = 0.7',
    replace: 'temperature = 0.2',
  },
  {
    clause: 'Codex: `thread.started` gives the session id and `conversation.started`.',
    file: 'src/events/engines/codex/codex-engine.ts',
    search: "report.status({ status: type, session_id: nameField(record, 'thread_id') })",
    replace: 'report.status({ status: type })',
  },
  {
    clause: 'Codex: `thread.started` is a status.',
    file: 'src/events/engines/codex/codex-engine.ts',
    search: "return report.status({ status: type, session_id: nameField(record, 'thread_id') });",
    replace: 'return report.turnStarted();',
  },
  {
    clause: 'Codex: a completed `agent_message` is the message.',
    file: CODEX_ITEMS,
    search: "if (type === 'agent_message') return report.message(text);",
    replace: '',
  },
  {
    clause: 'Codex: a completed `reasoning` is the summary.',
    file: CODEX_ITEMS,
    search: 'report.reasoning(text, id === null ? {} : { id });',
    replace: '',
  },
  {
    clause: 'Gemini: the document is read from stderr; its `session_id` is the session.',
    file: GEMINI,
    search: "session_id: nameField(document, 'session_id'),",
    replace: 'session_id: null,',
  },
  {
    clause: 'Gemini: its `response` is the message.',
    file: GEMINI,
    search: "if (response !== null && response !== '') report.message(response);",
    replace: "if (response !== null && response !== '') report.reasoning(response, {});",
  },
  {
    clause: 'OpenCode: steps are statuses.',
    file: 'src/events/engines/opencode/opencode-engine.ts',
    search: 'return report.status({ status: type, session_id: sessionId });',
    replace: 'return undefined;',
  },
  {
    clause: 'OpenCode: `sessionID` is the session.',
    file: 'src/events/engines/opencode/opencode-engine.ts',
    search: "const sessionId = nameField(record, 'sessionID');",
    replace: 'const sessionId = null;',
  },
  {
    clause: 'OpenCode: `text` is the message.',
    file: 'src/events/engines/opencode/opencode-parts.ts',
    search: 'else report.message(text);',
    replace: 'else report.reasoning(text, {});',
  },
  {
    clause: 'Artifacts of every engine come from the file differences, `.audit` aside: created, modified, deleted.',
    file: 'src/events/end/artifacts.ts',
    search: " && !path.split('/').includes('.audit'))",
    replace: ')',
  },
  {
    clause: 'The marker is `"__SKILL_DONE__": true`.',
    file: 'src/events/attempt/messages.ts',
    search: ':\\s*true\\b/u;',
    replace: ':\\s*yes\\b/u;',
  },
  {
    clause: 'OpenCode: only `step_finish` with reason `stop` is the end.',
    file: 'src/events/engines/opencode/opencode-parts.ts',
    search: "if (reason === 'stop') return report.endSignal",
    replace: 'if (reason !== null) return report.endSignal',
  },
  {
    clause: 'iFlow: confidence 0.7 for a pattern.',
    file: 'src/events/engines/iflow/iflow-engine.ts',
    search: 'const REGEX_CONFIDENCE = 0.7;',
    replace: 'const REGEX_CONFIDENCE = 0.9;',
  },
  {
    clause: 'iFlow: confidence 0.8 for a JSON block.',
    file: IFLOW_WORDS,
    search: 'const JSON_CONFIDENCE = 0.8;',
    replace: 'const JSON_CONFIDENCE = 0.9;',
  },
  {
    clause: 'iFlow: confidence 0.6 for free text on stdout that the block ends.',
    file: IFLOW_WORDS,
    search: 'const TEXT_CONFIDENCE = { stdout: 0.6,',
    replace: 'const TEXT_CONFIDENCE = { stdout: 0.9,',
  },
  {
    clause: 'iFlow: confidence 0.3 for free text on stderr without a block.',
    file: IFLOW_WORDS,
    search: 'stdout: 0.45, stderr: 0.3 }',
    replace: 'stdout: 0.45, stderr: 0.9 }',
  },
  {
    clause: 'Precedence: the marker first.',
    file: COMPLETION,
    search: 'if (evidence.doneMarker) return completed(markerReason',
    replace: 'if (evidence.doneMarker && evidence.endSignal === null) return completed(markerReason',
  },
  {
    clause: 'Precedence: then the end signal.',
    file: COMPLETION,
    search: '  if (evidence.endSignal !== null) {',
    replace: '  if (evidence.endSignal !== null && findTrouble(evidence) === null) {',
  },
  {
    clause: 'Precedence: then evidence of an interruption: an exit code.',
    file: COMPLETION,
    search: 'if (exitCode !== null && exitCode !== 0) {',
    replace: 'if (exitCode === -1) {',
  },
  { clause: '… a signal.', file: COMPLETION, search: 'if (signal !== null) {', replace: "if (signal === '') {" },
  {
    clause: '… a runtime error of the engine.',
    file: COMPLETION,
    search: "if (runtimeError !== null) return { category: 'engine'",
    replace: "if (runtimeError === '') return { category: 'engine'",
  },
  {
    clause: 'Precedence: otherwise unknown.',
    file: COMPLETION,
    search: 'judgeVerdict(evidence) ?? UNKNOWN',
    replace: "judgeVerdict(evidence) ?? completed('CLEAN_END', 1, evidence)",
  },
  {
    clause: 'FR-05: the result of a run that is not active is archived and moves nothing.',
    file: DECIDE,
    search: "if (activeRunId === order.run_id && order.run_id !== '') return undefined;",
    replace: 'if (order.run_id !== undefined) return undefined;',
  },
  {
    clause: 'FR-04: JSON wins over text, and the source is recorded.',
    file: 'src/orders/reading/read-work-result.ts',
    search: "{ source: 'json', name: 'work_result.json', read: readJsonResult },\n",
    replace: "{ source: 'json', name: 'work_result.none', read: readJsonResult },\n",
  },
  {
    clause: '`work_result.txt` is read where there is no JSON.',
    file: 'src/orders/reading/read-work-result.ts',
    search: "name: 'work_result.txt', read: readTextResult",
    replace: "name: 'work_result.none', read: readTextResult",
  },
  {
    clause: 'A result that names another run counts for neither.',
    file: DECIDE,
    search: ' && result.run_id === order.run_id) return undefined;',
    replace: ') return undefined;',
  },
  {
    clause: 'A result that names another issue counts for neither.',
    file: DECIDE,
    search: 'if (result.issue_ref === order.issue_ref && ',
    replace: 'if (',
  },
  {
    clause: 'IssueRef must be there.',
    file: NORMALIZE,
    search: "collect(requiredText('issue_ref', known))",
    replace: "(collect(optionalText('issue_ref', known)) ?? '')",
  },
  {
    clause: 'RunId must be there.',
    file: NORMALIZE,
    search: "collect(requiredText('run_id', known))",
    replace: "(collect(optionalText('run_id', known)) ?? '')",
  },
  {
    clause: 'Status must be there.',
    file: NORMALIZE,
    search: 'collect(readStatus(known))',
    replace: "(known.get('status') === null ? 'ok' : collect(readStatus(known)))",
  },
  {
    clause: 'A pull request or a commit must be named.',
    file: EVIDENCE,
    search: 'if (isMissing(result.changes.pr) && isMissing(result.changes.commit)) {',
    replace: 'if (result.changes === null) {',
  },
  {
    clause: 'Either of the two is enough.',
    file: EVIDENCE,
    search: 'isMissing(result.changes.pr) && isMissing',
    replace: 'isMissing(result.changes.pr) || isMissing',
  },
  {
    clause: 'Tests must be named; `n/a` is a name.',
    file: EVIDENCE,
    search: "return tests !== 'n/a' && tests.result",
    replace: "return tests === 'n/a' || tests.result",
  },
  {
    clause: 'Tests that are not mentioned are missing.',
    file: EVIDENCE,
    search: "if (tests === undefined) return 'it says nothing",
    replace: "if (tests === null) return 'it says nothing",
  },
];
