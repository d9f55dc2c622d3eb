import type { WorkbenchOptions } from './inspection.js';
import { t } from './texts.js';

export type Example = Readonly<{ name: string; text: string; schemaText: string; options: WorkbenchOptions }>;

export const DEFAULT_OPTIONS: WorkbenchOptions = {
  profile: 'default',
  allowPartial: false,
  align: false,
  ambiguous: null,
};

const TEXT = { type: 'string' };
const createList = (items: object) => ({ type: 'array', items });
const createObject = (properties: object, required: readonly string[]) => ({ type: 'object', properties, required });
const formatSchema = (schema: object): string => JSON.stringify(schema, null, 2);
const FINDING = { file: TEXT, line: { type: 'integer', minimum: 1 }, note: { type: ['string', 'null'] } };
const REVIEW = formatSchema(
  createObject(
    {
      verdict: { enum: ['pass', 'fail'] },
      score: { type: 'integer', minimum: 0, maximum: 10 },
      findings: createList(createObject(FINDING, ['file', 'line', 'note'])),
    },
    ['verdict', 'score'],
  ),
);

const COMPANY_FIELDS = {
  company_name: TEXT,
  revenue: { type: 'number' },
  risk: { enum: ['LOW', 'MEDIUM', 'HIGH'] },
  founded: { type: 'string', format: 'date' },
  tags: createList(TEXT),
};
const COMPANY = formatSchema({
  ...createObject(COMPANY_FIELDS, ['company_name', 'revenue', 'risk']),
  additionalProperties: false,
});

const DONE = formatSchema(
  createObject(
    { __SKILL_DONE__: { const: true }, title: TEXT, word_count: { type: 'integer' }, items: createList(TEXT) },
    ['__SKILL_DONE__', 'title'],
  ),
);

const TEST_REPORT = { command: TEXT, result: { enum: ['pass', 'fail', 'n/a'] }, evidence: TEXT };
const WORK_RESULT = {
  issue_ref: TEXT,
  run_id: { type: 'string', pattern: String.raw`^\d{4}-\d{2}-\d{2}-[a-z]+-\d{4}$` },
  status: { enum: ['ok', 'fail', 'blocked'] },
  changes: { type: 'object', properties: { pr: TEXT, commit: TEXT } },
  tests: { anyOf: [{ const: 'n/a' }, createObject(TEST_REPORT, ['command', 'result', 'evidence'])] },
  summary: TEXT,
};

/** A code fence. Backticks cannot be written inside the raw template below. */
const FENCE = '```';

/** Marks the output of a model, which is in its language, not in that of the page. */
const sample = (strings: TemplateStringsArray): string => strings.join('');

/** Typical outputs of models and agents, one for each kind of problem. */
export const EXAMPLES: readonly Example[] = [
  {
    name: t.draftInAThinkingBlock,
    text: sample`<think>
Maybe {"verdict": "fail", "score": 2}? No, the tests are green.
</think>
I went through the change; the tests said {"tests": 41, "failed": 0}. Here is my review:

\`\`\`json
{
  // overall
  verdict: 'pass',
  "score": 8
  "findings": [
    {"file": "src/app.ts", "line": 12, "note": "say "why" here",},
    {"file": "src/app.ts", "line": 40, "note": None},
  ],
}
\`\`\`

Let me know if you need more.`,
    schemaText: REVIEW,
    options: DEFAULT_OPTIONS,
  },
  {
    name: t.rejectedByTheSchema,
    text: sample`My review: {"verdict": "maybe", "score": 11, "findings": [
  {"file": "src/app.ts", "line": 12, "note": "fine"},
  {"file": "src/app.ts", "line": 0}
]}`,
    schemaText: REVIEW,
    options: DEFAULT_OPTIONS,
  },
  {
    name: t.multipleCandidatesTheSchemaDecides,
    text: sample`You asked for {"verdict": "...", "score": 0}, so first what the tool said:
{"tests": 41, "failed": 0}
and this is my answer: {"verdict": "pass", "score": 9}
(With stricter rules it would have been {"verdict": "fail", "score": 4}.)`,
    schemaText: REVIEW,
    options: DEFAULT_OPTIONS,
  },
  {
    name: t.cutOffInTheMiddle,
    text: sample`Here is the list:
{"verdict": "fail", "score": 3, "findings": [
  {"file": "src/read.ts", "line": 7, "note": "the stream is never closed"},
  {"file": "src/write.ts", "line": 19, "note": "an error is sw`,
    schemaText: formatSchema({ type: 'object', required: ['verdict', 'score'] }),
    options: { ...DEFAULT_OPTIONS, allowPartial: true },
  },
  {
    name: t.nearMissesAligned,
    text: sample`{"Company Name": "Ada & Co", "revenue": "$1,234.50", "risk": "medium", "founded": "Jan 15, 2024", "tags": "tools", "confidence": 0.9}`,
    schemaText: COMPANY,
    options: { ...DEFAULT_OPTIONS, align: true },
  },
  {
    name: t.agentEventStreamRecorded,
    text: [
      '{"type":"thread.started","thread_id":"01a1dcaa-b9b9-7c31-af81-baab5a994f15"}',
      '{"type":"turn.started"}',
      String.raw`{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"All steps are complete.\n\n${FENCE}json\n{\n  \"__SKILL_DONE__\": true,\n  \"title\": \"Notes\",\n  \"word_count\": 2,\n  \"artifacts\": []\n}\n${FENCE}\n"}}`,
      '{"type":"turn.completed","usage":{"input_tokens":1200,"cached_input_tokens":0,"cache_write_input_tokens":0,"output_tokens":42,"reasoning_output_tokens":0}}',
    ].join('\n'),
    schemaText: DONE,
    options: DEFAULT_OPTIONS,
  },
  {
    name: t.tagsInProseRecorded,
    text: String.raw`First I thought of <json>{"title": "Draft"}</json>, but then
I read the input and prepared the result. The structured part follows.

<json>
{"__SKILL_DONE__": true, "title": "Notes", "remark": "a brace } and a quote \" inside a string", "items": ["Alpha", "Beta"]}
</json>

Let me know if anything else is needed.`,
    schemaText: DONE,
    options: { ...DEFAULT_OPTIONS, profile: 'tagged' },
  },
  {
    name: t.noAnswerTheOutputBecomes,
    text: sample`I could not finish: the build needs a token I do not have. Please tell me how to go on.`,
    schemaText: DONE,
    options: { ...DEFAULT_OPTIONS, profile: 'tagged' },
  },
  {
    name: t.maliciousPrototypeKeysEscapesHidden,
    text: sample`{"__proto__": {"admin": true}, "status": "ok\u202e gnp.exe", "items": ["\u001b[31mred", "<img src=x onerror=alert(1)>"],}`,
    schemaText: '',
    options: DEFAULT_OPTIONS,
  },
];

export const SCHEMA_EXAMPLES: readonly Readonly<{ name: string; schemaText: string }>[] = [
  { name: t.noneAnyJson, schemaText: '' },
  { name: t.aReview, schemaText: REVIEW },
  { name: t.aCompany, schemaText: COMPANY },
  { name: t.aFinishedTask, schemaText: DONE },
  { name: t.aWorkResult, schemaText: formatSchema(createObject(WORK_RESULT, Object.keys(WORK_RESULT))) },
  {
    name: t.aListOfWords,
    schemaText: formatSchema({ type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1 }),
  },
];
