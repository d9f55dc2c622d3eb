import { inFile } from '../run-mutation.js';
import type { Mutation } from '../run-mutation.js';

/** Mutations for section 001 of `docs/requirements.md` (`<json>` tags): each breaks a clause in the file that implements it. */
export const TAGS: readonly Mutation[] = [
  ...inFile(
    'src/json/find/spans.ts',
    [
      'If there are multiple blocks, the last one counts.',
      'const last = findAnswers(text, blocks).at(-1) ?? blocks.at(-1);',
      'const last = findAnswers(text, blocks)[0] ?? blocks.at(-1);',
    ],
    [
      'A tag that is only mentioned, without JSON after it, is not a block: the last closed block counts.',
      'const last = findAnswers(text, blocks).at(-1) ?? blocks.at(-1);',
      'const last = blocks.at(-1);',
    ],
    [
      'If the last block starts as JSON and is truncated, an earlier block is never used instead.',
      'const last = findAnswers(text, blocks).at(-1) ??',
      'const last = findAnswers(text, blocks).findLast(({ isClosed }) => isClosed) ??',
    ],
    [
      'Acceptance 1: the value of a clean block is extracted.',
      "finder: 'tag', untouched: isOnly && block.isClosed",
      "finder: 'tag', untouched: false",
    ],
  ),
  ...inFile('src/runs/spec/render-contract.ts', [
    "The agent's prompt contains the contract: tags around JSON, and the schema.",
    'between the tags <json> and </json>',
    'at the end',
  ]),
  ...inFile('src/runs/judge/answer.ts', [
    'Output is read to the end before it is judged.',
    "if (this.#source !== 'messages' && stream === 'stdout') this.#printed.add(bytes);",
    "if (this.#source !== 'messages' && stream === 'stdout') this.#printed.add(bytes.subarray(0, 4));",
  ]),
  ...inFile(
    'src/json/find/survey.ts',
    [
      'The content between `<json>` and `</json>` is used, even across line breaks.',
      "} else if (event === 'close' && last !== undefined) {",
      "} else if (event === 'close' && last !== undefined && !text.slice(last.start, index).includes('\\n')) {",
    ],
    [
      'Without a closing tag, the last block extends to the end of the input.',
      'blocks.push({ start: end, end: text.length, isClosed: false, lastClose: text.length });',
      'blocks.push({ start: end, end, isClosed: false, lastClose: end });',
    ],
  ),
  ...inFile(
    'src/json/reader/reader-policy.ts',
    [
      'Trailing commas are repaired.',
      'all: new Set<RepairKind>(REPAIR_KINDS),',
      "all: new Set<RepairKind>(REPAIR_KINDS.filter((kind) => kind !== 'extra_comma')),",
    ],
    [
      'Missing quotes are repaired.',
      'all: new Set<RepairKind>(REPAIR_KINDS),',
      "all: new Set<RepairKind>(REPAIR_KINDS.filter((kind) => kind !== 'unquoted_key')),",
    ],
    [
      'Markdown markup inside the JSON is removed.',
      'all: new Set<RepairKind>(REPAIR_KINDS),',
      "all: new Set<RepairKind>(REPAIR_KINDS.filter((kind) => kind !== 'markdown')),",
    ],
    [
      'Acceptance 2: a block in prose is extracted and its comma repaired.',
      'all: new Set<RepairKind>(REPAIR_KINDS),',
      "all: new Set<RepairKind>(REPAIR_KINDS.filter((kind) => kind !== 'extra_comma')),",
    ],
  ),
  ...inFile(
    'src/json/pipeline.ts',
    [
      'Acceptance 3: a truncated value is closed if partial values are allowed.',
      '(acceptsTruncated(round) && options.allowPartial !== true)',
      'acceptsTruncated(round)',
    ],
    [
      'Acceptance 3: otherwise it is an error.',
      '(acceptsTruncated(round) && options.allowPartial !== true)',
      '(acceptsTruncated(round) && options.allowPartial === undefined)',
    ],
    [
      'Acceptance 4: without a tag, the whole output is a comment, with a warning.',
      "if (settings.profile !== 'tagged' || search.seen.length > 0) return",
      "if (settings.profile !== 'unified') return",
    ],
    [
      'Every issue has a file.',
      "return { ...examined, rejection: describeMismatch('The value', checked.issues) };",
      'return examined;',
    ],
    [
      'Its line is at least 1.',
      "return { ...examined, rejection: describeMismatch('The value', checked.issues) };",
      'return examined;',
    ],
    [
      'Its severity is critical, high, medium or low.',
      "return { ...examined, rejection: describeMismatch('The value', checked.issues) };",
      'return examined;',
    ],
    [
      'It has a message.',
      "return { ...examined, rejection: describeMismatch('The value', checked.issues) };",
      'return examined;',
    ],
  ),
  ...inFile('src/json/options.ts', [
    'The answer is found after thinking of any length.',
    'bytes: 67_108_864,',
    'bytes: 1_048_576,',
  ]),
  ...inFile('src/orders/comment/render-comment.ts', [
    "Without a tag, the agent's answer to an order is sent as a comment.",
    "result?.summary ?? reading.answer ?? ''",
    "result?.summary ?? ''",
  ]),
  ...inFile('src/runs/process/output-queue.ts', [
    'Stdout is read live without overflowing: a slow reader makes the process wait.',
    '        flow(false);\n',
    '',
  ]),
  ...inFile('src/runs/result/build-result.ts', [
    'Without a tag, a run ends as a comment.',
    "return { status: 'comment', comment: judged.comment, repair_level: 'none' };",
    "return { status: 'success', repair_level: 'none' };",
  ]),
];
