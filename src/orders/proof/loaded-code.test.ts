import { describe, expect, it } from 'vitest';
import { measureProcessor } from '../../../test/processor-time.js';
import { findLoaded } from './loaded-code.js';

describe('findLoaded', () => {
  it.each<[string, string, Readonly<Record<string, readonly string[]>>]>([
    ['check.js', 'ci/equal.js', { 'check.js': ["const equal = require('./ci/equal');"] }],
    ['check.mjs', 'tools/a.mjs', { 'check.mjs': ["} from './tools/a.mjs';"] }],
    ['ci/check.mts', 'ci/a.mts', { 'ci/check.mts': ["import a from './a.mjs';"] }],
    [
      'ci/check.ts',
      'ci/lib/b.ts',
      { 'ci/check.ts': ["import './lib';"], 'ci/lib/index.ts': ["export * from './b.js';"] },
    ],
    ['verify/run.py', 'verify/equal.py', { 'verify/run.py': ['from equal import same, other'] }],
    ['ci/run.py', 'ci/rules/sums.py', { 'ci/run.py': ['from .rules import (sums, products)'] }],
    ['check.py', 'tools/equal.py', { 'check.py': ['import os, tools.equal as equal'] }],
    ['ci/check.rb', 'ci/equal.rb', { 'ci/check.rb': ["require_relative 'equal'"] }],
    ['ci/check.js', 'ci/expected.json', { 'ci/check.js': ["const expected = require('./expected.json')"] }],
    ['check.js', 'ci/equal.js', { 'check.js': ["require('./src')"], 'src/index.js': ["import('../ci/equal.js')"] }],
    ['check.js', 'assertions.js', { 'check.js': ["require('./assertions')"] }],
    ['ci/*.js', 'tools/a.js', { 'ci/one.js': ["require('../tools/a')"] }],
  ])('finds that the check of %s has the part %s', (script, part, imports) => {
    expect(findLoaded([script], { [part]: [], ...imports }).parts).toContain(part);
  });

  it('separates the product by the files that the check loads first', () => {
    const imports = {
      'check.js': ["require('./src/cart')", "require('./lib/x')", "require('./src/tax')", "require('node:fs')"],
      'src/cart.js': ["require('./tax')", "require('./money')"],
      'src/tax.js': [],
      'src/money.js': ["require('./cart')"],
      'lib/x.js': ["require('./y')"],
      'lib/y.js': [],
      'src/other.js': ["require('./cart')"],
    };
    expect(findLoaded(['check.js'], imports)).toEqual({
      parts: [],
      branches: [
        ['src/cart.js', 'src/money.js'],
        ['lib/x.js', 'lib/y.js'],
      ],
    });
  });

  it.each([['**'], ['node'], ['src/**']])('follows nothing but scripts: %s', (script) => {
    expect(findLoaded([script], { 'a.js': ["require('./ci/b')"], 'ci/b.js': [] })).toEqual({ parts: [], branches: [] });
  });

  it('takes a bounded time for code that loads itself and for long lines', () => {
    const files = Array.from({ length: 3000 }, (_, index) => `src/${index}.js`);
    const all = Object.fromEntries(files.map((path, index) => [path, [`require('./${(index + 1) % 3000}')`]]));
    const lines = ["'./a".repeat(100_000), '"'.repeat(100_000)];
    const imports = { ...all, 'check.js': [...lines, "require('./src/0')", "require('./src/1')"] };
    expect(measureProcessor(() => void findLoaded(['check.js'], imports))).toBeLessThan(5000);
  });
});
