import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT } from '../scripts/run-tool.js';

/** Lists the code blocks of a page, without comments, which are in the language of the page. */
function listCode(page: string): string[] {
  const blocks = [...page.matchAll(/^```(.*\n[^]*?)^```$/gm)].map(([, code]) => code ?? '');
  return blocks.map((code) => code.replaceAll(/(?:^| +)(?:\/\/|# ).*$/gm, '').trim());
}

/** The numbers on a page, outside of code blocks and links; other languages put them in a different order. */
function listNumbers(page: string): string[] {
  const words = page.replaceAll(/^```[^]*?^```$|\]\([^)]*\)|`[^`]*`/gm, '');
  return [...words.matchAll(/\d+(?:[.,]\d+)*/g)].map(([number]) => number).toSorted();
}

describe('the Chinese guides', () => {
  it.each(readdirSync(join(PROJECT, 'docs/guides')))('%s shows the same code as the English guide', (name) => {
    const code = listCode(readFileSync(join(PROJECT, 'docs/zh', name), 'utf8'));
    expect(code.length).toBeGreaterThan(0);
    expect(code).toEqual(listCode(readFileSync(join(PROJECT, 'docs/guides', name), 'utf8')));
  });
});

describe('README.zh-CN.md', () => {
  const chinese = readFileSync(join(PROJECT, 'README.zh-CN.md'), 'utf8');

  it('shows the same code as README.md', () => {
    expect(listCode(chinese)).toEqual(listCode(readFileSync(join(PROJECT, 'README.md'), 'utf8')));
  });

  it('has the same numbers as README.md', () => {
    expect(listNumbers(chinese)).toEqual(listNumbers(readFileSync(join(PROJECT, 'README.md'), 'utf8')));
  });

  it('detects a different command and a different number', () => {
    expect(listNumbers('1.5 × of 20.')).toEqual(listNumbers('20 的 1.5 ×'));
    expect(listNumbers('1.5 ×')).not.toEqual(listNumbers('1.6 ×'));
    expect(listCode('```sh\nnpm ci # 安装\n```\n')).toEqual(listCode('```sh\nnpm ci   # installs\n```\n'));
    expect(listCode('```sh\nnpm ci\n```\n')).not.toEqual(listCode('```sh\nnpm i\n```\n'));
  });
});
