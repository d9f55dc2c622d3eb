import type { ParseError } from './parse-error.js';

/** How the corrective prompt is worded: English, Chinese, or by a function of one's own. */
export type RetryPrompt = 'en' | 'zh' | ((error: ParseError, prompt: string) => string);

/** Enough of an error message to correct by; the rest would only crowd the prompt. */
const LONGEST_SUMMARY = 2000;

/** What was wrong, how the error is introduced, and what to do. */
const WORDINGS = {
  en: [
    'Your previous output could not be parsed as valid JSON.',
    'Error: ',
    'Answer again with the JSON object only, without any other text, Markdown or code fence.',
  ],
  zh: [
    '你上一次的输出无法解析为合法 JSON。',
    '错误信息：',
    '请严格按要求重新输出，仅输出 JSON 对象，不要包含任何额外文字、Markdown 标记或代码块。',
  ],
} as const;

/** The prompt of a further attempt: what was wrong, then the original prompt. Earlier answers are not repeated. */
export function renderRetryPrompt(wording: RetryPrompt, error: ParseError, prompt: string): string {
  if (typeof wording === 'function') return wording(error, prompt);
  const [wrong, label, task] = WORDINGS[wording];
  const message = `[${error.code}] ${error.message}`;
  const summary = message.length > LONGEST_SUMMARY ? `${message.slice(0, LONGEST_SUMMARY)}…` : message;
  return `${wrong}\n${label}${summary}\n${task}\n\n${prompt}`;
}
