import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { checkTemplate, createDefaultTemplate, fillTemplate } from './comment-template.js';

const SHORT = `{{IssueRef}} in run {{ RunId }}: {{Status}}

{{Summary}}

Proof: {{Evidence}}

{{Changes}}
{{Tests}}

**Next:** {{Next}}`;
const FIELDS = {
  IssueRef: 'acme/shop#1',
  RunId: 'r-1',
  Status: 'review',
  Summary: 'Ready. {{Next}}',
  Evidence: undefined,
  Changes: '- PR: none',
  Tests: '- Result: pass',
  Next: 'Review it.',
};

it('the default template is templates/comment.md', () => {
  const file = new URL('../../../templates/comment.md', import.meta.url);
  expect(readFileSync(file, 'utf8')).toBe(createDefaultTemplate());
  expect(checkTemplate(createDefaultTemplate())).toBe(createDefaultTemplate());
});

it('a template is filled once, without paragraphs that have no value', () => {
  expect(fillTemplate(checkTemplate(SHORT.replaceAll('\n', '\r\n')), FIELDS)).toBe(
    'acme/shop#1 in run r-1: review\n\nReady. {{Next}}\n\n- PR: none\n- Result: pass\n\n**Next:** Review it.\n',
  );
});

it.each([
  ['lacks {{Summary}}, {{Next}}', SHORT.replace('{{Summary}}', '').replace('{{Next}}', '')],
  ['unknown placeholders {{Sumary}}', `${SHORT} {{Sumary}}`],
  ['repeats {{RunId}}', `${SHORT} {{RunId}}`],
  ['more than 16384 characters', SHORT + 'x'.repeat(16_384)],
])('a template is refused: %s', (problem, template) => {
  expect(() => checkTemplate(template)).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringContaining(problem) }),
  );
});
