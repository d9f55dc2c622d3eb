import { describe, expect, test } from 'vitest';
import { readBlocks, readInlines, type Block, type Inline } from './markdown-blocks.js';
import fc from 'fast-check';

describe('inline Markdown', () => {
  test.each<[string, readonly Inline[]]>([
    ['plain', ['plain']],
    ['**bold** and *soft*', [strong('bold'), ' and ', soft('soft')]],
    ['__bold__ _soft_ ~~gone~~', [strong('bold'), ' ', soft('soft'), ' ', { kind: 's', children: ['gone'] }]],
    ['**bold with *soft* in it**', [{ kind: 'strong', children: ['bold with ', soft('soft'), ' in it'] }]],
    ['a `code *span*` b', ['a ', { kind: 'code', text: 'code *span*' }, ' b']],
    ['``a ` b``', [{ kind: 'code', text: 'a ` b' }]],
    ['snake_case_name', ['snake_case_name']],
    ['"__SKILL_DONE__": true', ['"__SKILL_DONE__": true']],
    ['call __init__() of (_it_)', ['call __init__() of (', soft('it'), ')']],
    ['2 * 3 * 4', ['2 * 3 * 4']],
    ['**never closed', ['**never closed']],
    ['`never closed', ['`never closed']],
    ['\\*literal\\*', ['*literal*']],
    ['[text](https://a.example/x)', [link('https://a.example/x', 'text')]],
    ['[text](<https://a.example> "title")', [link('https://a.example', 'text', ' "title"')]],
    ['![a cat](cat.png)', [{ kind: 'image', address: 'cat.png', children: ['a cat'] }]],
    ['see https://a.example/x.', ['see ', link('https://a.example/x'), '.']],
    ['<https://a.example>', [link('https://a.example')]],
    ['[not a link] (b)', ['[not a link] (b)']],
    ['[x](javascript:alert(1))', [link('javascript:alert(1', 'x'), ')']],
    ['<img src=x onerror=alert(1)>', ['<img src=x onerror=alert(1)>']],
    ['two\nlines', ['two\nlines']],
  ])('parses %j', (text, expected) => {
    expect(readInlines(text)).toEqual(expected);
  });
});

describe('Markdown blocks', () => {
  test.each<[string, readonly Block[]]>([
    ['# Title #\ntext', [{ kind: 'heading', level: 1, children: ['Title'] }, paragraph('text')]],
    ['#hashtag', [paragraph('#hashtag')]],
    ['a\nb\n\nc', [paragraph('a\nb'), paragraph('c')]],
    ['```ts\nconst a = *b*;\n```\nafter', [code('const a = *b*;', 'ts'), paragraph('after')]],
    ['```\nnever closed', [code('never closed')]],
    ['~~~\n```\n~~~', [code('```')]],
    ['text\n\n    indented', [paragraph('text'), code('indented')]],
    ['> a\n> b', [{ kind: 'quote', blocks: [paragraph('a\nb')] }]],
    ['---', [{ kind: 'rule' }]],
    ['- a\n- b', [{ kind: 'list', first: null, items: [[paragraph('a')], [paragraph('b')]] }]],
    ['3. a\n4. b', [{ kind: 'list', first: 3, items: [[paragraph('a')], [paragraph('b')]] }]],
    ['- a\n\n- b', [{ kind: 'list', first: null, items: [[paragraph('a')], [paragraph('b')]] }]],
    ['- a\n  more\n- b', [{ kind: 'list', first: null, items: [[paragraph('a\nmore')], [paragraph('b')]] }]],
    ['- a\n  ```\n  x\n  ```', [{ kind: 'list', first: null, items: [[paragraph('a'), code('x')]] }]],
    [
      '- a\n  - b',
      [
        {
          kind: 'list',
          first: null,
          items: [[paragraph('a'), { kind: 'list', first: null, items: [[paragraph('b')]] }]],
        },
      ],
    ],
    ['- a\n\nafter', [{ kind: 'list', first: null, items: [[paragraph('a')]] }, paragraph('after')]],
    [
      '| a | b |\n|---|---|\n| 1 | 2 |',
      [
        {
          kind: 'table',
          rows: [
            [['a'], ['b']],
            [['1'], ['2']],
          ],
        },
      ],
    ],
    ['a | b', [paragraph('a | b')]],
    ['<script>alert(1)</script>', [paragraph('<script>alert(1)</script>')]],
  ])('parses %j', (text, expected) => {
    expect(readBlocks(text)).toEqual(expected);
  });
});

/** Fragments of Markdown syntax. */
const marks = [
  '*',
  '**',
  '_',
  '`',
  '```',
  '[',
  '](',
  ')',
  '!',
  '>',
  '- ',
  '1. ',
  '|',
  '|-|',
  '#',
  '\n',
  '    ',
  '\\',
  'a',
  ' ',
  'https://x',
];
const markdown = fc.array(fc.constantFrom(...marks), { maxLength: 200 }).map((parts) => parts.join(''));

test('no letter is lost, with any budget', () => {
  fc.assert(
    fc.property(markdown, fc.integer({ min: 1, max: 60 }), (text, nodes) => {
      const letters = (all: string): string => all.replaceAll(/[^a]/g, '');
      expect(letters(asText(readBlocks(text)))).toBe(letters(text));
      expect(letters(asText(readBlocks(text, { nodes })))).toBe(letters(text));
    }),
  );
});

test('a long table keeps all cells of the row where the budget ends', () => {
  const rows = Array.from({ length: 20 }, (_, row) => `| ${row} one | ${row} two | ${row} three |`);
  for (let nodes = 1; nodes < 70; nodes += 1) {
    const text = asText(readBlocks(['| a | b | c |', '|---|---|---|', ...rows].join('\n'), { nodes }));
    for (const row of rows.keys()) expect(text).toContain(`${row} three`);
  }
});

test('input made only of markers stays within the element budget', () => {
  for (const unit of ['*a* ', '`a`', '- a\n', '> ', '# a\n', '|a', '[a](b)', '- - - - a\n']) {
    const nodes = countNodes(readBlocks(unit.repeat(5000), { nodes: 300 }));
    expect(nodes).toBeLessThan(700);
  }
});

test('nesting is limited for input with many open markers', () => {
  const deepest = (blocks: readonly Block[]): number =>
    Math.max(0, ...blocks.map((block) => ('blocks' in block ? 1 + deepest(block.blocks) : 0)));
  expect(deepest(readBlocks('> '.repeat(1000)))).toBeLessThanOrEqual(6);
});

function strong(text: string): Inline {
  return { kind: 'strong', children: [text] };
}
function soft(text: string): Inline {
  return { kind: 'em', children: [text] };
}
function link(address: string, ...children: string[]): Inline {
  return { kind: 'link', address, children };
}
function paragraph(text: string): Block {
  return { kind: 'paragraph', children: [text] };
}
function code(text: string, language = ''): Block {
  return { kind: 'code', language, text };
}
function inlineText(inlines: readonly Inline[]): string {
  return inlines
    .map((inline) => {
      if (typeof inline === 'string') return inline;
      if (inline.kind === 'code') return inline.text;
      return inlineText(inline.children) + ('address' in inline ? inline.address : '');
    })
    .join('');
}
function asText(blocks: readonly Block[]): string {
  return blocks
    .map((block) => {
      switch (block.kind) {
        case 'paragraph':
        case 'heading':
          return inlineText(block.children);
        case 'code':
          return block.language + block.text;
        case 'quote':
          return asText(block.blocks);
        case 'list':
          return block.items.map(asText).join('');
        case 'table':
          return block.rows.flat().map(inlineText).join('');
        case 'rule':
          return '';
      }
    })
    .join('');
}
function countNodes(node: unknown): number {
  if (Array.isArray(node)) return node.reduce<number>((sum, one) => sum + countNodes(one), 0);
  if (typeof node !== 'object' || node === null) return 0;
  return 1 + countNodes(Object.values(node));
}
