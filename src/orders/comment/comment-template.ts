import { SluiceError } from '../../base/index.js';

const HEADERS = [
  'Role',
  'Repo',
  'IssueRef',
  'RunId',
  'SpecRef',
  'ContractsRef',
  'Action',
  'Status',
  'ResultCode',
  'ReadUpTo',
  'Trigger',
] as const;
const SECTIONS = ['Summary', 'Changes', 'Tests', 'Evidence', 'BlockedBy', 'OpenQuestions', 'Next'] as const;

/** The fields that every template must show: without them, a comment would not say what was decided, and why. */
const REQUIRED = ['IssueRef', 'RunId', 'Status', 'Summary', 'Changes', 'Tests', 'Next'] as const;

/** The values of a comment's fields. A field without a value is left out with its paragraph. */
export type CommentFields = Readonly<Record<string, string | undefined>>;

/**
 * Creates the template that is used unless another one is configured; `templates/comment.md` in the package. Sections
 * are called by their names, or by their titles in another language.
 */
export function createDefaultTemplate(titles: Readonly<Record<string, string>> = {}): string {
  const header = HEADERS.map((key) => `${key}: {{${key}}}`).join('\n');
  const sections = SECTIONS.map((name) => `## ${titles[name] ?? name}\n{{${name}}}`).join('\n\n');
  return `${header}\n\n${sections}\n`;
}

/** A comment has at most 65,536 characters, and most of them are for its values. */
const MAX_TEMPLATE_LENGTH = 16_384;

const PLACEHOLDER = /\{\{([^{}\n]*)\}\}/g;

/** Replaces each placeholder once: a value that looks like a placeholder stays text. */
export function fillTemplate(template: string, fields: CommentFields): string {
  const paragraphs = template.trim().split(/\n(?:[ \t]*\n)+/);
  const shown = paragraphs.filter((text) => listPlaceholders(text).every((key) => fields[key] !== undefined));
  const filled = shown.map((text) => text.replaceAll(PLACEHOLDER, (_, key: string) => fields[key.trim()] ?? ''));
  return `${filled.join('\n\n')}\n`;
}

/**
 * Checks a template for comments: Markdown with placeholders such as `{{Summary}}`. Throws `INVALID_CONFIG` if it is
 * too long, lacks a required placeholder, or has an unknown or a repeated one. Returns it with plain line ends.
 */
export function checkTemplate(text: string): string {
  const template = text.replaceAll(/\r\n?/g, '\n');
  const keys = listPlaceholders(template);
  const known: readonly string[] = [...HEADERS, ...SECTIONS];
  const unknown = keys.filter((key) => !known.includes(key));
  const repeated = keys.filter((key, index) => keys.indexOf(key) !== index);
  const missing = REQUIRED.filter((key) => !keys.includes(key));
  const problems = [
    ...(template.length > MAX_TEMPLATE_LENGTH ? [`it has more than ${MAX_TEMPLATE_LENGTH} characters`] : []),
    ...(unknown.length > 0 ? [`it has the unknown placeholders ${showAll(unknown)}; use ${showAll(known)}`] : []),
    ...(repeated.length > 0 ? [`it repeats ${showAll(repeated)}`] : []),
    ...(missing.length > 0 ? [`it lacks ${showAll(missing)}`] : []),
  ];
  if (problems.length > 0)
    throw new SluiceError('INVALID_CONFIG', `Invalid template for comments: ${problems.join('; ')}.`);
  return template;
}

function showAll(keys: readonly string[]): string {
  return keys.map((key) => `{{${key}}}`).join(', ');
}

function listPlaceholders(text: string): readonly string[] {
  return [...text.matchAll(PLACEHOLDER)].map(([, key = '']) => key.trim());
}
