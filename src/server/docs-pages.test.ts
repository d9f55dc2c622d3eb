import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from './api/endpoint.js';
import { ENDPOINTS } from './api/endpoints.js';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('docs/server.md', () => {
  it('lists every endpoint in the table', () => {
    const rows = Object.values<Endpoint>(ENDPOINTS).map(
      ({ method, path, scope, summary }) =>
        `| ${method} | \`${path}\` | ${scope === 'none' ? '–' : scope} | ${summary} |`,
    );
    const listed = read('docs/server.md').match(/^\| (?:GET|POST) \|.*$/gm);
    expect(listed).toEqual(rows);
  });
});

describe('SECURITY.md', () => {
  const guards = [...read('SECURITY.md').matchAll(/\| `(?<file>(?:src|test)\/[^`]+)`: (?<title>[^|]+) \|$/gm)].map(
    ({ groups }) => [groups?.['title'] ?? '', groups?.['file'] ?? ''] as const,
  );

  it('names a test for every boundary', () => {
    const rows = read('SECURITY.md').match(/^\| (?!boundary|---).*\|$/gm);
    expect(guards.length).toBeGreaterThan(0);
    expect(guards).toHaveLength(rows?.length ?? 0);
  });

  it.each(guards)('%s: the test exists', (title, file) => {
    expect(read(file)).toContain(title.includes("'") ? `"${title}"` : `'${title}'`);
  });
});
