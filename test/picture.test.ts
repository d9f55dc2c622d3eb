import { describe, expect, it } from 'vitest';
import type { ImportEdge } from '../scripts/layering/import-graph.js';
import { renderPicture, replacePicture } from '../scripts/layering/render-picture.js';

const code = (from: string, to: string): ImportEdge => ({
  from: `src/${from}/a.ts`,
  to: `src/${to}/b.ts`,
  kind: 'file',
  typeOnly: false,
});
const types = (from: string, to: string): ImportEdge => ({ ...code(from, to), typeOnly: true });
const draw = (...edges: readonly ImportEdge[]) => renderPicture({ files: [], edges }).split('\n').slice(1);

describe('the picture of the imports', () => {
  it('has a line for code and dots for types only', () => {
    expect(draw(code('events', 'json'), types('store', 'json'), types('runs', 'json'), code('runs', 'json'))).toEqual([
      '  events --> json',
      '  runs --> json',
      '  store -.-> json',
    ]);
  });

  it('omits an arrow that others imply, if they are as strong', () => {
    expect(draw(code('a', 'b'), code('b', 'c'), code('a', 'c'))).toEqual(['  a --> b', '  b --> c']);
    expect(draw(code('a', 'b'), types('b', 'c'), code('a', 'c'))).toEqual(['  a --> b', '  a --> c', '  b -.-> c']);
    expect(draw(types('a', 'b'), code('b', 'c'), code('a', 'c'))).toEqual(['  a --> c', '  a -.-> b', '  b --> c']);
    expect(draw(types('a', 'b'), types('b', 'c'), types('a', 'c'))).toEqual(['  a -.-> b', '  b -.-> c']);
  });

  it('shows only floors: no packages, no imports inside a floor, no imports that every floor has', () => {
    const base = code('run-folder', 'base');
    const files = [{ ...code('a', 'b'), kind: 'package' as const }, code('a', 'a'), base];
    expect(draw(...files, { ...code('x', 'json'), from: 'web/main.tsx' })).toEqual(['  web --> json']);
  });

  it('replaces the previous picture', () => {
    const begin = '<!-- picture of the imports, made by npm run picture -- --write -->';
    const page = `before\n${begin}\nold\n<!-- end of the picture -->\nafter\n`;
    const picture = replacePicture(page, 'new');
    expect(picture).toBe(`before\n${begin}\n\n\`\`\`mermaid\nnew\n\`\`\`\n\n<!-- end of the picture -->\nafter\n`);
    expect(replacePicture(picture, 'new')).toBe(picture);
    expect(() => replacePicture('nowhere', 'new')).toThrow('no markers for the picture');
  });
});
