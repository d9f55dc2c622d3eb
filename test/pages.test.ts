import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { countWords } from '../scripts/pages/count-words.js';
import { PROJECT } from '../scripts/run-tool.js';
import { configFileSchema } from '../src/server/config/config.js';

describe('the words of a page', () => {
  it('are counted without table borders, and code blocks apart', () => {
    expect(countWords('# Two words\n\n| a | b |\n| --- | --- |\n\n```sh\nls -l\n```\n')).toEqual({
      written: 7,
      prose: 4,
    });
  });

  it('do not include what is generated', () => {
    const page = 'One\n\n<!-- generated, by a script -->\n\ntwo three\n\n<!-- end -->\n\nfour\n\n<!-- end of it -->\n';
    expect(countWords(page)).toEqual({ written: 5, prose: 5 });
  });
});

describe('docs/configuration.md', () => {
  it('lists every key of the configuration', () => {
    const page = readFileSync(join(PROJECT, 'docs/configuration.md'), 'utf8');
    const [table = ''] = /^<!-- generated[^]*?^<!-- end -->$/m.exec(page) ?? [];
    const cells = [...table.matchAll(/^\| (`[^|]+`) \|/gm)].map(([, cell = '']) => cell);
    const listed = cells.flatMap((cell) => [...cell.matchAll(/`(\$?\w+)/g)].map(([, key = '']) => key));
    expect([...new Set(listed)].toSorted()).toEqual(Object.keys(configFileSchema.properties).toSorted());
  });
});
