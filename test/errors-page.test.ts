import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readErrorCodes, renderErrorsPage } from '../scripts/pages/errors-page.js';
import { PROJECT } from '../scripts/run-tool.js';
import { ARCHIVE_ERROR_CODES } from '../src/runs/archive/s3-client.js';
import { RUN_FOLDER_ERROR_CODES, RUN_FOLDER_WARNING_CODES } from '../src/runs/run-folder/run-folder-error.js';
import { FILE_ERROR_CODES } from '../src/base/sluice-error.js';
import { CLIENT_ERROR_CODES } from '../src/server/client/send-request.js';
import { REASON_CODES } from '../src/events/protocol/completion.js';
import { DIAGNOSTIC_CODES } from '../src/events/protocol/diagnostic-codes.js';
import { WORKER_FAILURE_CODES } from '../src/orders/dispatch/worker-options.js';
import { REPO_ERROR_CODES } from '../src/orders/git/mirror.js';
import { LEAD_ERROR_CODES, ORDERS_ERROR_CODES } from '../src/orders/orders-error.js';
import { SINK_ERROR_CODES } from '../src/orders/sinks/sink.js';
import { PARSE_ERROR_CODES } from '../src/json/parse-error.js';
import { REPAIR_KINDS } from '../src/json/repair.js';
import { WARNING_CODES } from '../src/json/result.js';
import { PROBLEM_CODES } from '../src/store/records/reading.js';
import { RESULT_CODES } from '../src/store/records/work-result.js';
import { RUN_WARNING_CODES } from '../src/store/records/run-result.js';
import { REQUEST_PROBLEMS } from '../src/server/http/problem.js';
import { SUITE_ERROR_CODES } from '../src/server/suite/case-record.js';
import { STORE_ERROR_CODES } from '../src/store/store-error.js';

/** The codes in the first column of a page's tables, by section. */
function readSections(page: string): Map<string, string[]> {
  const sections = new Map<string, string[]>();
  for (const section of page.split(/^## /m).slice(1)) {
    const title = section.slice(0, section.indexOf('\n'));
    sections.set(
      title,
      [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code ?? ''),
    );
  }
  return sections;
}

/** Fails unless a section lists exactly these codes, each once. */
function expectCodes(sections: ReadonlyMap<string, readonly string[]>, title: string, codes: readonly string[]): void {
  expect(sections.get(title)?.toSorted()).toEqual(codes.toSorted());
}

/** Error codes thrown for misuse, as written in the source. */
function findThrownCodes(): string[] {
  const files = readdirSync(join(PROJECT, 'src'), { recursive: true, encoding: 'utf8' });
  const codes = files
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) => [
      // `requireAlignment` throws the code that it is given.
      ...readFileSync(join(PROJECT, 'src', file), 'utf8').matchAll(
        /(?:SluiceError(?:\(|<)\s*|requireAlignment\([^)']*'\w+', )'([A-Z_]+)'/g,
      ),
    ])
    .map(([, code]) => code ?? '');
  return [...new Set(codes)].filter((code) => !(PARSE_ERROR_CODES as readonly string[]).includes(code));
}

describe('docs/errors.md', () => {
  const sections = readSections(readFileSync(join(PROJECT, 'docs/errors.md'), 'utf8'));

  it.each([
    ['Parse errors', [...PARSE_ERROR_CODES]],
    ['Repositories', [...REPO_ERROR_CODES]],
    ['Repairs', [...REPAIR_KINDS]],
    ['Warnings', [...WARNING_CODES]],
    ['Warnings of runs', [...RUN_WARNING_CODES]],
    ['Diagnostics of events', Object.keys(DIAGNOSTIC_CODES)],
    ["Reasons of an attempt's end", Object.keys(REASON_CODES)],
    ['Run folders', [...RUN_FOLDER_ERROR_CODES, ...FILE_ERROR_CODES]],
    ['The archive', [...ARCHIVE_ERROR_CODES]],
    ['Warnings of run folders', [...RUN_FOLDER_WARNING_CODES]],
    ['Store', [...STORE_ERROR_CODES]],
    ['Work requests and wrappers', [...ORDERS_ERROR_CODES]],
    ['Problems of work results', [...PROBLEM_CODES]],
    ['Result codes of decisions', [...RESULT_CODES]],
    ['Leads', [...LEAD_ERROR_CODES]],
    ['Sinks', [...SINK_ERROR_CODES]],
    ['Suites', [...SUITE_ERROR_CODES]],
    ['Orphaned runs', [...WORKER_FAILURE_CODES]],
    ['Server', Object.keys(REQUEST_PROBLEMS)],
    ['Client', [...CLIENT_ERROR_CODES]],
  ])('lists every code of the section %s, once', (title, codes) => {
    expectCodes(sections, title, codes);
  });

  it('lists every code that is thrown once, under Runs or under Misuse', () => {
    const listedCodes = [...(sections.get('Misuse') ?? []), ...(sections.get('Runs') ?? [])];
    // A worker that uses a server throws the server's codes, and one that cannot resume a run the reason of its end.
    const otherCodes = new Set([...(sections.get('Server') ?? []), ...Object.keys(REASON_CODES)]);
    const thrownCodes = findThrownCodes().filter((code) => listedCodes.includes(code) || !otherCodes.has(code));
    expect(listedCodes.toSorted()).toEqual(thrownCodes.toSorted());
  });

  it('is generated from its data', async () => {
    expect(renderErrorsPage(await readErrorCodes())).toBe(readFileSync(join(PROJECT, 'docs/errors.md'), 'utf8'));
  });

  it('has only sections that are compared', () => {
    expect(sections.size).toBe(22);
  });

  it.each([
    ['lacks a code', ['FIRST', 'SECOND', 'THIRD']],
    ['has a code that does not exist', ['FIRST']],
    ['lists a code twice', ['FIRST', 'SECOND'], '| `SECOND` | x |\n'],
    ['lists a code in another section', ['FIRST', 'SECOND'], '## Repairs\n| `SECOND` | x |\n', 'Repairs'],
  ])('fails the comparison if it %s', (_, codes, extraRows = '', title = 'Warnings') => {
    const page = `## Warnings\n\n| code | meaning |\n| --- | --- |\n| \`FIRST\` | x |\n| \`SECOND\` | x |\n`;
    expectCodes(readSections(page), 'Warnings', ['FIRST', 'SECOND']);
    expect(() => expectCodes(readSections(page + extraRows), title, codes)).toThrow('to deeply equal');
  });
});
