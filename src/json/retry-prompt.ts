import { MAX_SUMMARY_LENGTH, MAX_SCHEMA_LENGTH } from './bounds.js';
import type { Profile } from './options.js';
import type { ParseError } from './parse-error.js';
import { findJsonSchema, type StandardSchema } from './schema.js';

/** The wording of the corrective prompt: English, Chinese, or a custom function. */
export type RetryPrompt = 'en' | 'zh' | ((error: ParseError, prompt: string) => string);

/**
 * The parts of a prompt, in order: what was wrong, the schema, advice for a truncated answer, what to do (with
 * placeholders for the tags and the form), the tags, and the words for an object, an array and any other value.
 */
const WORDINGS = {
  en: [
    'Your previous output could not be parsed.\nError: ',
    'JSON Schema: ',
    'Answer more briefly.',
    'Answer again with the JSON {} only, <>without any other text, Markdown or code fence.',
    'between <json> and </json>, ',
    'object',
    'array',
    'value',
  ],
  zh: [
    '你上一次的输出无法解析为合法 JSON。\n错误信息：',
    'JSON Schema：',
    '请缩短内容。',
    '请严格按要求重新输出，仅输出<> JSON {}，不要包含任何额外文字、Markdown 标记或代码块。',
    ' <json> 与 </json> 之间的',
    '对象',
    '数组',
    '值',
  ],
} as const;

/**
 * Creates the prompt for another attempt: what was wrong, then the original prompt. Earlier answers are not repeated.
 */
export function renderRetryPrompt(
  wording: RetryPrompt,
  error: ParseError,
  schema: StandardSchema,
  profile: Profile | undefined,
  prompt: string,
): string {
  if (typeof wording === 'function') return wording(error, prompt);
  const [problem, expected, shorter, task, tags, object, array, other] = WORDINGS[wording];
  const { code, message } = error;
  const jsonSchema = findJsonSchema(schema);
  const type = profile === 'unified' ? 'object' : jsonSchema?.type;
  const lines = [problem + `[${code}] ${message}`.slice(0, MAX_SUMMARY_LENGTH)];
  const schemaText = toJson(jsonSchema);
  if (schemaText !== '' && schemaText.length <= MAX_SCHEMA_LENGTH) lines.push(expected + schemaText);
  if (code === 'TRUNCATED') lines.push(shorter);
  const form = type === 'object' ? object : type === 'array' ? array : other;
  return [...lines, task.replace('<>', profile === 'tagged' ? tags : '').replace('{}', form), '', prompt].join('\n');
}

/** Returns an empty string for values that JSON cannot represent, such as a bigint. */
function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '';
  }
}
