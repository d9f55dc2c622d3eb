import { inFile } from '../run-mutation.js';
import type { Mutation } from '../run-mutation.js';

/**
 * Mutations for section 003 of `docs/requirements.md` (one parser, normalizers, retry): each breaks a clause in the
 * file that implements it.
 */
export const PARSER: readonly Mutation[] = [
  ...inFile(
    'src/json/find/strict-spans.ts',
    ['Step 2: `<think>` blocks are stripped.', 'return text.replace(THINK', 'return text.replace(/never/'],
    [
      'Step 3: the content from the first fence to the last is used, without the language.',
      "text.lastIndexOf('```')",
      "text.indexOf('```', (UP_TO_FIRST_FENCE.exec(text)?.[0].length ?? 0))",
    ],
    ['Step 3: the language `json` is removed.', '```[ \\t]*(?:json)?/i;', '```[ \\t]*/i;'],
    [
      'Step 6: otherwise, the content from the first brace to its closing brace is parsed.',
      '  yield* findFirstObject(text, start, end);\n',
      '',
    ],
  ),
  ...inFile(
    'src/json/generate-and-parse.ts',
    ['At most one retry by default: two calls.', 'maxRetries = 1,', 'maxRetries = 2,'],
    ['0 turns retries off.', 'attempt > maxRetries', 'attempt > Math.max(1, maxRetries)'],
    ['The caller may set more than one.', 'attempt > maxRetries', 'attempt > Math.min(1, maxRetries)'],
    [
      'A retry sends no history: neither an earlier answer nor an earlier correction.',
      'schema, parseOptions.profile, originalPrompt);',
      'schema, parseOptions.profile, prompt);',
    ],
    [
      "Every call goes through the caller's own function, so it can be audited.",
      '    report(onAttempt, { attempt,',
      '    if (result.ok) report(onAttempt, { attempt,',
    ],
    [
      'The system message is passed in every call.',
      'call({ prompt, systemMessage,',
      'call({ prompt, systemMessage: undefined,',
    ],
    [
      'The temperature is passed in every call.',
      'call({ prompt, systemMessage, temperature,',
      'call({ prompt, systemMessage, temperature: 0.7,',
    ],
    ['The temperature is 0.7 by default.', 'temperature = 0.7', 'temperature = 0.2'],
    [
      "The model is any function that returns a string; no vendor's client is required.",
      'maxTokens, signal: combinedSignal, attempt }),',
      "maxTokens, signal: combinedSignal, attempt, response_format: 'json' } as never),",
    ],
  ),
  ...inFile(
    'src/json/retry-prompt.ts',
    [
      'When parsing fails, the model is asked again with the error summary.',
      "  add(problem, `[${code}] ${wording === 'en' ? message : joinIssues(issues)}`, MAX_SUMMARY_LENGTH);",
      '  add(problem, `[${code}]`, MAX_SUMMARY_LENGTH);',
    ],
    ["The retry prompt uses the document's wording.", '错误信息：', '错误：'],
    [
      'A retry sends the correction and the original prompt.',
      ".replace('{}', form), '', prompt].join",
      ".replace('{}', form), ''].join",
    ],
  ),
  ...inFile(
    'src/json/result.ts',
    ['Step 1: empty or blank input is rejected immediately.', "return text.trim() === '' ?", "return text === '  ' ?"],
    [
      'One general error is thrown.',
      "return { ok: false, status: 'failed', error, repairLevel",
      "return { ok: false, status: 'failed', error: new Error(error.message) as ParseError, repairLevel",
    ],
    [
      'The context label is in the message.',
      "`${label === undefined ? '' : `${label}: `}${message}${others}`",
      '`${message}${others}`',
    ],
    [
      'A module can wrap this error in its own in two or three lines.',
      "return { ok: false, status: 'failed', error, repairLevel",
      "return { ok: false, status: 'failed', error: new Error(error.message) as ParseError, repairLevel",
    ],
  ),
  ...inFile(
    'src/json/reader/reader-policy.ts',
    [
      'Step 4: line feeds inside strings are escaped.',
      "new Set<RepairKind>(['control_character'])",
      'new Set<RepairKind>([])',
    ],
    [
      'Step 4: carriage returns inside strings are escaped.',
      "new Set<RepairKind>(['control_character'])",
      'new Set<RepairKind>([])',
    ],
    [
      'Step 4: tabs inside strings are escaped.',
      "new Set<RepairKind>(['control_character'])",
      'new Set<RepairKind>([])',
    ],
  ),
  ...inFile('src/json/read-span.ts', [
    'Step 5: the input is parsed as JSON.',
    'value = JSON.parse(block);',
    'value = [JSON.parse(block)];',
  ]),
  ...inFile(
    'src/json/pipeline.ts',
    [
      'Step 7: the root must be an object.',
      "if (settings.profile === 'unified' && (!isContainer(value) || Array.isArray(value))) {",
      "if (settings.profile === 'unified' && !isContainer(value)) {",
    ],
    [
      'Step 8: normalizers run in sequence.',
      'for (const normalizer of normalizers) value',
      'for (const normalizer of normalizers.toReversed()) value',
    ],
    [
      'Step 9: the value is validated against the schema.',
      "return { ...examined, rejection: describeMismatch('The value', checked.issues) };",
      'return examined;',
    ],
    [
      'The order is fixed: 7 before 8.',
      "    rejection = { code: 'ROOT_NOT_OBJECT', message: 'The root must be an object.' };\n",
      "    for (const normalizer of normalizers) value = normalizer(value);\n    rejection = { code: 'ROOT_NOT_OBJECT', message: 'The root must be an object.' };\n",
    ],
    [
      'The order is fixed: 8 before 9.',
      '  return { found, reading, value, changes, rejection };\n',
      '  return { found, reading, value: aligned, changes, rejection };\n',
    ],
    ['A normalizer gets the parsed object and returns one.', 'value = normalizer(value);', 'value = normalizer({});'],
    [
      "An error thrown by a normalizer is not hidden: the reported error contains the normalizer's input.",
      "rejection = { code: 'NORMALIZER_FAILED',",
      "rejection = undefined as never; void { code: 'NORMALIZER_FAILED',",
    ],
  ),
  ...inFile('src/json/candidates.ts', [
    'The order is fixed: 2 before 3.',
    '      const visibleText = blankThinking(text);\n',
    '      const visibleText = text;\n',
  ]),
  ...inFile('src/json/parse.ts', [
    'Parsing is a plain function that returns the validated value.',
    '  if (result.ok) return result.value;\n  throw result.status',
    '  if (result.ok) return result as never;\n  throw result.status',
  ]),
];
