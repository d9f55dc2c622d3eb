/** Parses code reviews in `<json>` tags as agents send them: clean, broken, truncated, wrong, and missing. */
import { parse } from 'sluice/json';
import { AnalysisResult } from './analysis-result.js';

const ISSUE = '{"file": "src/pay.ts", "line": 12, "severity": "high", "message": "amount is not checked"}';

const ANSWERS = {
  clean: `<thinking>Look at pay.ts first.</thinking>\n<json>{"issues": [${ISSUE}]}</json>`,
  dirty: `Sure, here is the json: <json> { issues: [${ISSUE},], } </json> Hope this helps!`,
  'several blocks': `<json>{"issues": []}</json> On second thought: <json>{"issues": [${ISSUE}]}</json>`,
  truncated: `<json>{"issues": [${ISSUE}, {"file": "src/pay.ts", "line": 3`,
  'wrong line': '<json>{"issues": [{"file": "a.ts", "line": 0, "severity": "low", "message": "x"}]}</json>',
  'no tag': 'I found nothing worth reporting.',
};

for (const [name, answer] of Object.entries(ANSWERS)) {
  const result = parse(answer, AnalysisResult, { profile: 'tagged', label: 'review' });
  switch (result.status) {
    case 'success': {
      const lines = result.value.issues.map(({ file, line, severity }) => `${severity} in ${file}:${line}`);
      console.log(`${name}: ${result.repairLevel}, ${lines.join(', ')}`);
      break;
    }
    case 'failed': {
      const paths = result.error.issues?.map(({ path }) => path.join('.')) ?? [];
      console.log(`${name}: ${result.error.code}${paths.length > 0 ? ` at ${paths.join(', ')}` : ''}`);
      break;
    }
    case 'comment':
      console.log(`${name}: posted as a comment, ${result.warnings.map(({ code }) => code).join(', ')}`);
  }
}

// A truncated answer can be accepted: its unfinished last issue is dropped, and nothing is filled in.
const partial = parse(ANSWERS.truncated, AnalysisResult, { profile: 'tagged', allowPartial: true });
console.log(`truncated, partial values allowed: ${partial.ok ? 'success' : partial.status}`);
const complete = parse(`<json>{"issues": [${ISSUE}`, AnalysisResult, { profile: 'tagged', allowPartial: true });
console.log(`truncated after a complete issue, partial values allowed: ${complete.ok ? 'success' : complete.status}`);
