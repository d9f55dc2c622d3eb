/**
 * The pages for users: `npm run pages [-- --write]`. Prints the words of every page in `docs` and `docs/guides` that is
 * written by hand, and fails if there are too many, or if `docs/errors.md` does not match its data, `docs/errors.json`;
 * `--write` updates the page.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { countWords } from './pages/count-words.js';
import { readErrorCodes, renderErrorsPage } from './pages/errors-page.js';
import { readArguments } from './read-arguments.js';
import { PROJECT } from './run-tool.js';

/** Pages that are generated from data or code. */
const GENERATED_PAGES = ['docs/errors.md', 'docs/requirements.md'];
/** All pages together, code blocks included. */
const MAX_WORDS = 25_000;
/** One page, without code blocks. */
const MAX_PAGE_WORDS = 900;

const { values } = readArguments(
  { options: { write: { type: 'boolean', default: false } } },
  'npm run pages [-- --write]',
);
const problems: string[] = [];

const errorsPage = join(PROJECT, 'docs/errors.md');
const rendered = renderErrorsPage(await readErrorCodes());
if (values.write) writeFileSync(errorsPage, rendered);
if (readFileSync(errorsPage, 'utf8') !== rendered)
  problems.push(
    'docs/errors.md does not match docs/errors.json. Change the data, then run "npm run pages -- --write".',
  );

let total = 0;
for (const folder of ['docs', 'docs/guides']) {
  const pages = readdirSync(join(PROJECT, folder)).filter((name) => name.endsWith('.md'));
  for (const page of pages.map((name) => `${folder}/${name}`)) {
    if (GENERATED_PAGES.includes(page)) continue;
    const { written, prose } = countWords(readFileSync(join(PROJECT, page), 'utf8'));
    console.log(`${page}: ${written} words, ${prose} without code`);
    total += written;
    if (prose > MAX_PAGE_WORDS) problems.push(`${page} has more than ${MAX_PAGE_WORDS} words. Shorten or split it.`);
  }
}
if (total > MAX_WORDS) problems.push(`The pages have more than ${MAX_WORDS} words. Delete what another page says.`);
for (const problem of problems) console.error(problem);
console.log(`pages: ${total} words written by hand, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
