import { inFile } from '../run-mutation.js';
import type { Mutation } from '../run-mutation.js';

/**
 * Mutations for section 002 of `docs/requirements.md` (engines to events): each breaks a clause in the file that
 * implements it.
 */
export const EVENTS: readonly Mutation[] = [
  ...inFile(
    'src/events/engines/codex/codex-engine.ts',
    [
      'Codex: `thread.started` names the session and emits `conversation.started`.',
      "report.status({ status: type, session_id: getName(record, 'thread_id') })",
      'report.status({ status: type })',
    ],
    [
      'Codex: `thread.started` is a status.',
      "return report.status({ status: type, session_id: getName(record, 'thread_id') });",
      'return report.turnStarted();',
    ],
    [
      'Codex: `turn.completed` without the marker asks the user.',
      "      return report.endSignal('CODEX_TURN_COMPLETED');",
      '      return undefined;',
    ],
  ),
  ...inFile(
    'src/events/engines/codex/codex-items.ts',
    [
      'Codex: a completed `agent_message` is the message.',
      "if (type === 'agent_message') return report.message(text);",
      '',
    ],
    ['Codex: a completed `reasoning` is the summary.', 'report.reasoning(text, id === null ? {} : { id });', ''],
    [
      "The marker counts only in the agent's own messages.",
      '  report.reasoning(text, id === null ? {} : { id });',
      '  report.message(text);',
    ],
    [
      'Each engine has its own reader; every record is mapped to RASP and then to FCMP.',
      "if (type === 'agent_message') return report.message(text);",
      "if (type === 'agent_message') return report.reasoning(text, {});",
    ],
  ),
  ...inFile(
    'src/events/engines/gemini/gemini-document.ts',
    [
      'Gemini: the document is read from stderr; its `session_id` is the session.',
      "session_id: getName(document, 'session_id'),",
      'session_id: null,',
    ],
    [
      'Gemini: its `response` is the message.',
      "if (response !== null && response !== '') report.message(response);",
      "if (response !== null && response !== '') report.reasoning(response, {});",
    ],
    ['Gemini: its `stats` are a status.', '    usage,\n    ...(stats', '    usage: null,\n    ...(stats'],
    [
      'Gemini: an error in the document is an engine error.',
      "  report.engineError({ message, httpStatus, detail: { type: getField(error, 'type'), code: getField(error, 'code') } });\n",
      '',
    ],
    [
      'Gemini: an error that ended the work fails the conversation; an error that the engine recovered from does not.',
      '  report.runtimeError(message);\n',
      '',
    ],
    [
      'Gemini: a complete document without the marker asks the user.',
      "if (error === null) report.endSignal('GEMINI_RESPONSE_OBJECT_FINISHED');\n  else readFatalError",
      'if (error !== null) readFatalError',
    ],
  ),
  ...inFile(
    'src/events/engines/opencode/opencode-engine.ts',
    [
      'OpenCode: steps are statuses.',
      'return report.status({ status: type, session_id: sessionId });',
      'return undefined;',
    ],
    [
      'OpenCode: `sessionID` is the session.',
      "const sessionId = getName(record, 'sessionID');",
      'const sessionId = null;',
    ],
    [
      'OpenCode: a line that cannot be decoded becomes `raw.stdout`.',
      '      else report.unparsed();\n    },\n    blank',
      '      else report.message(frame.text);\n    },\n    blank',
    ],
  ),
  ...inFile(
    'src/events/engines/opencode/opencode-parts.ts',
    ['OpenCode: `text` is the message.', '    report.message(text);', '    report.reasoning(text, {});'],
    [
      'OpenCode: only `step_finish` with reason `stop` is the end.',
      "if (reason === 'stop') return report.endSignal",
      'if (reason !== null) return report.endSignal',
    ],
    ['OpenCode: … completed.', '      return report.toolCompleted(call);', '      return report.toolStarted(call);'],
    [
      'OpenCode: … or failed.',
      "    case 'error':\n      return report.toolFailed({ ...call,",
      "    case 'error':\n      return report.toolCompleted({ ...call,",
    ],
    [
      'OpenCode: that end without the marker asks the user.',
      "  if (reason === 'stop') return report.endSignal('OPENCODE_STEP_FINISH_STOP');\n",
      '',
    ],
  ),
  ...inFile(
    'src/events/end/artifacts.ts',
    ['Files in `.audit` are not artifacts.', " && !path.split('/').includes('.audit'))", ')'],
    [
      "Every engine's artifacts come from the file changes: created.",
      "const CHANGES = ['created', 'modified', 'deleted'] as const;",
      "const CHANGES = ['modified', 'deleted'] as const;",
    ],
    [
      '… modified.',
      "const CHANGES = ['created', 'modified', 'deleted'] as const;",
      "const CHANGES = ['created', 'deleted'] as const;",
    ],
    [
      '… deleted.',
      "const CHANGES = ['created', 'modified', 'deleted'] as const;",
      "const CHANGES = ['created', 'modified'] as const;",
    ],
  ),
  ...inFile(
    'src/events/attempt/messages.ts',
    ['The marker is `"__SKILL_DONE__": true`.', ':\\s*true\\b/u;', ':\\s*yes\\b/u;'],
    [
      'Gemini: fenced JSON in the reply is a structured payload.',
      'const payload = known ?? readStructuredPayload(text);',
      'const payload = known;',
    ],
    [
      'Gemini: the reply remains the message text.',
      '      message_id: id,\n      text,\n      ...(payload',
      "      message_id: id,\n      text: payload === undefined ? text : '',\n      ...(payload",
    ],
    [
      'iFlow layer 2: JSON blocks are payloads.',
      "return result.ok && typeof result.value === 'object' && result.value !== null ? result.value : undefined;",
      'return undefined;',
    ],
  ),
  ...inFile(
    'src/events/engines/iflow/iflow-engine.ts',
    ['iFlow: confidence 0.7 for a pattern.', 'const REGEX_CONFIDENCE = 0.7;', 'const REGEX_CONFIDENCE = 0.9;'],
    [
      'iFlow layer 1: the session id is found by pattern.',
      "if (session !== undefined) return { kind: 'session', sessionId: session };",
      '',
    ],
    [
      'iFlow layer 1: resuming is found by pattern.',
      "if (resuming !== undefined) return { kind: 'resuming', sessionId: resuming };",
      '',
    ],
    [
      'iFlow layer 1: errors are found by pattern.',
      "return stream === 'stderr' && LOGGED_ERROR.test(text) ? { kind: 'error', severity: 'warning' } : null;",
      'return null;',
    ],
  ),
  ...inFile(
    'src/events/engines/iflow/iflow-text.ts',
    ['iFlow: confidence 0.8 for a JSON block.', 'const JSON_CONFIDENCE = 0.8;', 'const JSON_CONFIDENCE = 0.9;'],
    [
      'iFlow: confidence 0.6 for free text on stdout before a block.',
      'const TEXT_CONFIDENCE = { stdout: 0.6,',
      'const TEXT_CONFIDENCE = { stdout: 0.9,',
    ],
    [
      'iFlow: confidence 0.3 for free text on stderr without a block.',
      'stdout: 0.45, stderr: 0.3 }',
      'stdout: 0.45, stderr: 0.9 }',
    ],
    [
      'iFlow layer 3: the remaining text is the message.',
      '    if (this.#heldFrames.some(({ text }) => !isBlank(text))) this.#swap();\n',
      '',
    ],
    [
      'iFlow layer 3: low confidence produces a warning and raw events.',
      'const UNFINISHED_CONFIDENCE = { stdout: 0.45, stderr: 0.3 }',
      'const UNFINISHED_CONFIDENCE = { stdout: 0.45, stderr: 0.6 }',
    ],
    [
      'iFlow: confidence 0.5 for free text on stderr before a block.',
      '{ stdout: 0.6, stderr: 0.5 }',
      '{ stdout: 0.6, stderr: 0.9 }',
    ],
    ['iFlow: confidence 0.45 for free text on stdout without a block.', '{ stdout: 0.45,', '{ stdout: 0.9,'],
    [
      'iFlow: the output can be on either stream.',
      '    if (this.#heldFrames.some(({ text }) => !isBlank(text))) this.#swap();\n',
      '',
    ],
  ),
  ...inFile(
    'src/events/end/completion.ts',
    [
      'Precedence: the marker first.',
      'if (evidence.doneMarker) return createCompleted(chooseMarkerReason',
      'if (evidence.doneMarker && evidence.endSignal === null) return createCompleted(chooseMarkerReason',
    ],
    [
      'Precedence: then the end signal.',
      '  if (evidence.endSignal !== null) {',
      '  if (evidence.endSignal !== null && findFailure(evidence) === null) {',
    ],
    [
      'Precedence: then evidence of an interruption: an exit code.',
      'if (exitCode !== null && exitCode !== 0) {',
      'if (exitCode === -1) {',
    ],
    ['… a signal.', 'if (signal !== null) {', "if (signal === '') {"],
    ['… an engine runtime error.', '  if (runtimeError !== null) {', "  if (runtimeError === '') {"],
    [
      'Precedence: otherwise unknown.',
      'judgeVerdict(evidence) ?? UNKNOWN',
      "judgeVerdict(evidence) ?? createCompleted('CLEAN_END', 1, evidence)",
    ],
  ),
  ...inFile(
    'src/events/terminal/terminal-merge.ts',
    [
      'Codex: stdout is read first, then the terminal; missing records are reported as `PTY_STREAM_MISMATCH`.',
      'if (!this.main.isEmpty) this.#tally.report(',
      'if (this.main.isEmpty) this.#tally.report(',
    ],
    [
      'Codex: a message that appears in both is reported once.',
      "const isPaired = waitingFrame.kind === 'json' && (partners[record++] ?? -1) >= 0;",
      "const isPaired = waitingFrame.kind === 'json' && (partners[record++] ?? -1) >= 99;",
    ],
    [
      'Codex: genuinely repeated messages are not treated as duplicates.',
      'if (!this.#isSameSession()) return { partners:',
      'if (this.#isSameSession()) return { partners:',
    ],
  ),
  ...inFile('src/events/engines/gemini/gemini-engine.ts', [
    'Gemini: the document is also found on the other stream.',
    '      if (isDocument(value)) {',
    "      if (isDocument(value) && frame.stream === 'stderr') {",
  ]),
  ...inFile('src/events/engines/gemini/gemini-log.ts', [
    'Gemini: failures in the log are engine errors.',
    'this.#report.engineError({ message: text, retrying: true, ...retry });',
    'this.#report.noise();',
  ]),
  ...inFile(
    'src/events/engines/iflow/execution-info.ts',
    [
      'iFlow layer 2: `<Execution Info>` is a status with session and usage.',
      'if (isRecord(info)) this.#emit(info, report);',
      'if (isRecord(info)) report.noise();',
    ],
    [
      'iFlow: `</Execution Info>` without the marker asks the user.',
      "    report.endSignal('IFLOW_EXECUTION_INFO_CLOSED');\n",
      '',
    ],
  ),
  ...inFile(
    'src/events/attempt/session.ts',
    [
      'iFlow: the session id starts the conversation if it has not started yet.',
      '    this.start(id, status.model);\n',
      '',
    ],
    ['Minimum: the session id, if present.', 'if (id !== null && id !== previousId) this.#writer.sessionId = id;', ''],
  ),
  ...inFile('src/events/attempt/tool-calls.ts', [
    'OpenCode: the state of a tool call follows its status: started.',
    '      this.start(call);\n',
    '',
  ]),
  ...inFile('src/run-folder/attempt/read-fs-diff.ts', [
    "A run folder's file changes exclude our own records.",
    ' && !parts.includes(AUDIT_FOLDER);',
    ';',
  ]),
  ...inFile(
    'src/events/mapping/fcmp-mapping.ts',
    [
      'completed → `conversation.completed`.',
      "return { type: 'conversation.completed', data: { state: 'completed', reason_code }",
      "return { type: 'conversation.failed', data: { state: 'completed', reason_code }",
    ],
    [
      'interrupted → `conversation.failed`.',
      "return { type: 'conversation.failed', data: { error:",
      "return { type: 'diagnostic.warning', data: { error:",
    ],
    ['awaiting_user_input → `user.input.required`.', "return copyData('user.input.required', event);", 'return null;'],
    ['A line that cannot be parsed is a raw event.', "return copyData('raw.stdout', event);", 'return null;'],
    ['The same on stderr.', "return copyData('raw.stderr', event);", 'return null;'],
    ['Minimum: `assistant.message.final`.', "return dropDetail('assistant.message.final', event);", 'return null;'],
    ['Minimum: `user.input.required`.', "return copyData('user.input.required', event);", 'return null;'],
    [
      'Minimum: `conversation.completed` or `conversation.failed`.',
      "return { type: 'conversation.failed', data: { error:",
      "return { type: 'diagnostic.warning', data: { error:",
    ],
  ),
  ...inFile('src/events/end/attempt-end.ts', [
    'unknown → `diagnostic.warning`.',
    "      return writer.warn('INCOMPLETE_STATE_CLASSIFICATION', undefined, { confidence: judgement.confidence });",
    "      return writer.write('lifecycle.run.completed', { reason_code: 'CLEAN_END', ...exit, ...usage });",
  ]),
  ...inFile(
    'src/events/attempt/frame-events.ts',
    [
      'An uncertain event has a warning with a confidence.',
      'this.#writer.warn(reason, message, { confidence: RAW_CONFIDENCE });',
      'this.#writer.warn(reason, message);',
    ],
    [
      'Drift never loses data: it produces a raw event and a warning.',
      '    if (!this.#isRaw) this.raw(frame.text);\n    this.#isRaw = true;',
      '    this.isHandled = true;\n    this.#isRaw = true;',
    ],
    [
      'Minimum: raw events that can be replayed.',
      '    if (!this.#isRaw) this.raw(frame.text);\n    this.#isRaw = true;',
      '    this.isHandled = true;\n    this.#isRaw = true;',
    ],
  ),
  ...inFile(
    'src/run-folder/logs/run-logs.ts',
    [
      '`events.jsonl` is written.',
      "const RASP_ONLY: readonly RunLog[] = ['rasp'];",
      'const RASP_ONLY: readonly RunLog[] = [];',
    ],
    ['`parser_diagnostics.jsonl` is written.', '? RASP_AND_DIAGNOSTICS : RASP_ONLY;', '? RASP_ONLY : RASP_ONLY;'],
  ),
  ...inFile('src/server/stream/stream-protocol.ts', [
    'Events are sent as server-sent events.',
    "`id: ${id}\\n` : ''}data: ${JSON",
    "`id: ${id}\\n` : ''}event: ${JSON",
  ]),
];
