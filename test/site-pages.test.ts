import { describe, expect, it } from 'vitest';
import { placeCodes, renderErrorPages } from '../scripts/site/error-pages.js';
import { rewriteLinks } from '../scripts/site/rewrite-links.js';
import { collectPages, placePage } from '../scripts/site/site-pages.js';

const ERRORS = `# Codes

All codes.

## Parse errors

| code | meaning |
| --- | --- |
| \`SYNTAX\` | x |

## Runs

| code | meaning |
| --- | --- |
| \`RUN_LOST\` | x |
| \`SYNTAX\` | x |
`;

describe('rewriteLinks', () => {
  const places = {
    pages: new Map([
      ['docs/server.md', 'server.md'],
      ['src/json/README.md', 'rooms/json.md'],
    ]),
    sections: placeCodes(ERRORS),
  };

  it.each([
    ['[a](../server.md#events)', '[a](/server.md#events)'],
    ['[a](../errors.md#runs)', '[a](/errors/runs.md#runs)'],
    ['[a](../errors.md)', '[a](/errors/index.md)'],
    ['[a](../../src/json)', '[a](/rooms/json.md)'],
    ['![a](../pictures/run.svg)', '![a](/docs/pictures/run.svg)'],
    ['[`a`](../../src/json/parse.ts)', '[`a`](repository:src/json/parse.ts)'],
    ['[a](#part) [b](https://x.org) `[c](../server.md)`', '[a](#part) [b](https://x.org) `[c](../server.md)`'],
  ])('rewrites %j', (text, expected) => {
    expect(rewriteLinks(text, 'docs/guides/a.md', places)).toBe(expected);
  });
});

describe('renderErrorPages', () => {
  it('makes a page for each room with an anchor for each code, and a list of all codes', () => {
    const pages = new Map(renderErrorPages(ERRORS));
    expect([...pages.keys()]).toEqual(['errors/index.md', 'errors/json.md', 'errors/runs.md']);
    expect(pages.get('errors/runs.md')?.match(/id="\w+"/g)).toEqual(['id="RUN_LOST"', 'id="SYNTAX"']);
    expect(pages.get('errors/index.md')).toContain('<a id="RUN_LOST"></a>[`RUN_LOST`](/errors/runs.md#RUN_LOST)');
    expect(pages.get('errors/index.md')?.match(/id="SYNTAX"/g)).toHaveLength(1);
  });
});

describe('the pages of the site', () => {
  const pages = collectPages('1.2.3');

  it('include every endpoint, and have a title and a path that no other page has', () => {
    const paths = pages.map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    expect(pages.filter(({ title, path }) => title === path)).toEqual([]);
    expect(pages.find(({ path }) => path === 'http/runs.md')?.text).toContain('## POST /v1/runs/{id}/reply');
  });

  it('do not include fixtures and the list of requirements', () => {
    expect(placePage('docs/requirements.md')).toBeUndefined();
    expect(placePage('src/events/engines/codex/fixtures/README.md')).toBeUndefined();
    expect(placePage('docs/guides/parsing.md')).toBe('guides/parsing.md');
  });
});
