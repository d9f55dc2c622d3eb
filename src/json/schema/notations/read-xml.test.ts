import { expect, it } from 'vitest';
import { readXml } from './read-xml.js';

it.each([
  ['&lt;b&gt; &amp; &quot;c&quot;', '<b> & "c"'],
  ['&#65;&#x42;', 'AB'],
  ['&#x10FFFF;', '\u{10FFFF}'],
  ['&#xD800;', '&#xD800;'],
  ['&#x110000;', '&#x110000;'],
  ['&unknown;', '&unknown;'],
])('readXml decodes only character references: %s', (reference, text) => {
  expect(readXml(`<a>${reference}</a>`, (key) => key === 'a')).toEqual({ a: text });
});
