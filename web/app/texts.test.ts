import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findTexts } from '../../test/find-texts.js';
import { chooseLanguage } from './language.js';

const WEB = join(import.meta.dirname, '..');
const FILES = readdirSync(WEB, { recursive: true, encoding: 'utf8' }).filter(
  (file) => /\.tsx?$/.test(file) && !/\.test\.ts$|\.d\.ts$|fixtures|vite\.config/.test(file),
);
const CATALOGUES = FILES.filter((file) => file.endsWith('texts.ts')).map((file) => dirname(file));
const read = (file: string): string => readFileSync(join(WEB, file), 'utf8');

type Texts = Readonly<Record<string, unknown>>;
const load = async (folder: string, language: string): Promise<Texts> => {
  const { t }: { t: Texts } = await import(join(WEB, folder, `texts.${language}.ts`));
  return t;
};

/** Lists the texts of a catalogue, also those in its groups; a function has a text in its source. */
function listTexts(texts: unknown, path = ''): readonly (readonly [path: string, text: string])[] {
  if (typeof texts !== 'object' || texts === null) return [[path, String(texts)]];
  return Object.entries(texts).flatMap(([key, value]) => listTexts(value, `${path}.${key}`));
}

describe.each(CATALOGUES)('the catalogue of %s', (folder) => {
  it('has the same keys in both languages, and every text in Chinese unless it is a name', async () => {
    const [english, chinese] = [await load(folder, 'en'), await load(folder, 'zh-CN')];
    const translated = new Map(listTexts(chinese));
    expect([...translated.keys()].sort()).toEqual(
      listTexts(english)
        .map(([path]) => path)
        .sort(),
    );
    const untranslated = listTexts(english).filter(([path, text]) => {
      const other = translated.get(path) ?? '';
      return !/\p{Script=Han}/u.test(other) && other !== text && !NOT_WORDS.test(other);
    });
    expect(untranslated).toEqual([]);
  });

  it('has no key that is not used', async () => {
    const used = new Set<string>();
    for (const file of FILES) {
      const found = /import \{ t \} from '([./\w-]+)texts\.js'/.exec(read(file))?.[1];
      if (found === undefined) continue;
      const own = join(dirname(file), found);
      const ownTexts = await load(own, 'en');
      for (const [, key = ''] of read(file).matchAll(/\bt\.(\w+)/g)) {
        if (join(key in ownTexts ? own : 'app', '/') === join(folder, '/')) used.add(key);
      }
    }
    expect(Object.keys(await load(folder, 'en')).filter((key) => !used.has(key))).toEqual([]);
  });

  it('has no text that another catalogue has: they share those of `app`', async () => {
    // Those in groups are chosen by a value.
    const listPairs = async (of: string): Promise<readonly string[]> => {
      const [english, chinese] = [await load(of, 'en'), await load(of, 'zh-CN')];
      return Object.entries(english).flatMap(([key, text]) =>
        typeof text === 'string' ? [`${text} ${String(chinese[key])}`] : [],
      );
    };
    const known = await Promise.all(CATALOGUES.filter((other) => other !== folder).map(listPairs));
    expect((await listPairs(folder)).filter((pair) => known.flat().includes(pair))).toEqual([]);
  });

  it('imports only types: code that waits for it must not be needed by it', () => {
    for (const language of ['en', 'zh-CN']) {
      expect(read(join(folder, `texts.${language}.ts`))).not.toMatch(/^import (?!type )/m);
    }
  });
});

/** Words that Chinese writes in the same way, such as names and units. */
const NOT_WORDS =
  /^(?:Workers?|Issue| issue |Token|English|Schema…|zh-CN|Cron（UTC）|。|\(.*\) => `(?:[^A-Za-z$]|\$\{\w+\}|token)*`)$/;

describe('the texts of the console', () => {
  const others = FILES.filter((file) => !/texts\.(?:en|zh-CN)\.ts$/.test(file));

  it.each(others.map((file) => relative(WEB, join(WEB, file))))('are all in the catalogue: %s', (file) => {
    expect(findTexts(read(file))).toEqual([]);
  });

  it('are found wherever they are: as text, in attributes, in values and in templates', () => {
    const planted = `
      const LABELS = { failed: 'Not sent yet', name: 'sent', kind: 'a-b' };
      const Page = ({ name }: { name: 'Not a text' }) => (
        <p class="two words" title={name === 'Ada' ? 'yes' : ''} aria-label="close" data-x="one two">
          Save {\`\${name} was saved\`} {String.raw\`const code = 1\`} <input placeholder="name" value={'x'} />
        </p>
      );`;
    expect(findTexts(planted)).toEqual(['Not sent yet', 'yes', 'close', 'one two', 'Save', 'was saved', 'name']);
  });
});

describe('chooseLanguage', () => {
  it.each([
    [['zh-TW', 'en'], 'zh-CN'],
    [['de', 'zh-Hans-CN'], 'zh-CN'],
    [['en-GB', 'zh'], 'en'],
    [[null, 'fr'], 'en'],
    [['zh-CN', 'en-US'], 'zh-CN'],
  ] as const)('takes the first language that the console has: %j', (preferred, expected) => {
    expect(chooseLanguage(preferred)).toBe(expected);
  });
});
