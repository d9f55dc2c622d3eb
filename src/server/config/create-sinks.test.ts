import { describe, expect, it } from 'vitest';
import { fileURLToPath } from 'node:url';
import { createSinks, readCommentTemplate } from './read-settings.js';
import type { SinkConfig } from './config.js';

const listNames = (sinks: readonly SinkConfig[], env = {}) =>
  createSinks({ data: '/data', sinks }, env).map(({ name }) => name);

describe('configured sinks', () => {
  it('are Markdown files by default', () => {
    expect(createSinks({ data: '/data' }, {}).map(({ name }) => name)).toEqual(['markdown']);
  });

  it('are empty if configured as such', () => {
    expect(listNames([])).toEqual([]);
  });

  it('read their secrets from the environment', () => {
    const env = { HOOK: 'a-secret-of-some-length', TOKEN: 'ghp_x' };
    const sinks: SinkConfig[] = [
      { type: 'webhook', url: 'https://example.org/hook', secret_env: 'HOOK', name: 'team' },
      { type: 'github', token_env: 'TOKEN' },
      { type: 'gitlab', token_env: 'TOKEN', base_url: 'https://git.example.org' },
    ];
    expect(listNames(sinks, env)).toEqual(['team', 'github', 'gitlab']);
  });

  it('have a language', () => {
    const sinks = createSinks({ data: '/data', sinks: [{ type: 'markdown', language: 'zh' }] }, {});
    expect(sinks.map(({ language }) => language)).toEqual(['zh']);
  });

  it.each<[string, SinkConfig[], string]>([
    ['a missing token_env', [{ type: 'github' }], 'token_env'],
    ['an environment variable that is not set', [{ type: 'github', token_env: 'GONE' }], 'GONE'],
    ['a webhook without a URL', [{ type: 'webhook', secret_env: 'GONE' }], 'url'],
    ['two sinks of the same name', [{ type: 'markdown' }, { type: 'markdown', dir: '/x' }], 'Rename one'],
  ])('are rejected for %s', (_, sinks, expected) => {
    expect(() => listNames(sinks)).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringContaining(expected) }),
    );
  });
});

describe('a configured template for comments', () => {
  const file = fileURLToPath(new URL('../../../templates/comment.md', import.meta.url));

  it('is read from its file', async () => {
    expect(await readCommentTemplate({ comment_template: file })).toContain('## Summary\n{{Summary}}\n');
    expect(await readCommentTemplate({})).toBeUndefined();
  });

  it('must exist', async () => {
    await expect(readCommentTemplate({ comment_template: `${file}.none` })).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      message: expect.stringContaining('comment.md.none", which does not exist.'),
    });
  });
});
