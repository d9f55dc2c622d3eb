import { AsyncLocalStorage } from 'node:async_hooks';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { scopeConsoleStyles } from './scope-console-styles.mjs';

const { version, repository, sidebars } = JSON.parse(
  readFileSync(new URL('../generated/settings.json', import.meta.url), 'utf8'),
);

/** The same as in `scripts/site/rewrite-links.ts`: links in the pages are written for forges. */
const slugify = (title) =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

export default defineConfig({
  title: 'Sluice',
  description: 'Raw agent output in, validated results out.',
  srcDir: 'generated',
  head: [['meta', { name: 'theme-color', content: '#0b6478' }]],
  lastUpdated: false,
  transformPageData: ({ relativePath }) => ({
    isTranslated: existsSync(new URL(`../generated/zh/${relativePath}`, import.meta.url)),
  }),
  markdown: {
    anchor: { slugify },
    // The default themes have too little contrast.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    // Braces after text are part of it, as in a path with a parameter.
    attrs: { disable: true },
    config(md) {
      md.core.ruler.push('repository', resolveRepositoryLinks);
      md.core.ruler.push('headers', removeEmptyHeaders);
    },
  },
  locales: {
    root: {
      label: 'English',
      lang: 'en',
      themeConfig: { nav: createNav(), sidebar: sidebars },
    },
    zh: {
      label: '中文',
      lang: 'zh-CN',
      description: '进来的是智能体的原始输出，出去的是经过校验的结果。',
      themeConfig: {
        nav: [
          { text: '指南', link: '/zh/guides/' },
          { text: '试一试', link: '/playground' },
          { text: '参考（英文）', items: REFERENCE() },
        ],
        sidebar: sidebars,
        outline: { label: '本页内容', level: [2, 3] },
        docFooter: { prev: '上一页', next: '下一页' },
        darkModeSwitchLabel: '外观',
        lightModeSwitchTitle: '切换到浅色',
        darkModeSwitchTitle: '切换到深色',
        sidebarMenuLabel: '目录',
        returnToTopLabel: '回到顶部',
        langMenuLabel: '语言',
        skipToContentLabel: '跳到正文',
        notFound: { title: '没有这一页', quote: '地址不对，或者这一页已经移走。', linkText: '回到首页' },
      },
    },
  },
  themeConfig: {
    outline: { level: [2, 3] },
    externalLinkIcon: true,
    socialLinks: repository === null ? [] : [{ icon: 'github', link: repository }],
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          options: { tokenize },
          searchOptions: {
            combineWith: 'AND',
            prefix: true,
            fuzzy: chooseFuzziness,
            boost: { title: 4, titles: 2 },
            boostDocument,
          },
        },
        locales: {
          zh: {
            translations: {
              button: { buttonText: '搜索', buttonAriaLabel: '搜索' },
              modal: {
                displayDetails: '显示摘要',
                resetButtonTitle: '清除',
                backButtonTitle: '关闭',
                noResultsText: '没有找到',
                footer: { selectText: '选择', navigateText: '移动', closeText: '关闭' },
              },
            },
          },
        },
      },
    },
  },
  vite: {
    plugins: [resolvePlayground(), searchAllLanguages()],
    css: { postcss: { plugins: [scopeConsoleStyles()] } },
    worker: { format: 'es' },
    build: { chunkSizeWarningLimit: 2000 },
  },
});

function REFERENCE() {
  return [
    { text: 'API', link: '/api/' },
    { text: 'HTTP', link: '/http/' },
    { text: 'Configuration', link: '/configuration' },
    { text: 'Error codes', link: '/errors/' },
    { text: 'Glossary', link: '/glossary' },
  ];
}

function createNav() {
  return [
    { text: 'Guides', link: '/guides/' },
    { text: 'Playground', link: '/playground' },
    { text: 'Reference', items: REFERENCE() },
    {
      text: version,
      items: [
        { text: 'Changelog', link: '/changelog' },
        { text: 'Decisions', link: '/decisions/' },
        { text: 'Architecture', link: '/architecture' },
        { text: 'Contributing', link: '/contributing' },
      ],
    },
  ];
}

/** A table without titles has empty header cells, which a screen reader would announce. */
function removeEmptyHeaders({ tokens }) {
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'th_open' || tokens[index + 1]?.content !== '') continue;
    token.tag = 'td';
    tokens[index + 2].tag = 'td';
  }
}

/** Links to files that are not on the site; they are plain text until the manifest has the repository's real address. */
function resolveRepositoryLinks({ tokens }) {
  for (const { children } of tokens) {
    let isInside = false;
    for (const token of children ?? []) {
      const href = token.type === 'link_open' ? (token.attrGet('href') ?? '') : '';
      if (href.startsWith('repository:') && repository !== null) {
        token.attrSet('href', `${repository}/blob/main/${href.slice('repository:'.length)}`);
      } else if (href.startsWith('repository:')) {
        isInside = true;
        Object.assign(token, { type: 'html_inline', tag: '', content: '<span>', attrs: null, nesting: 0 });
      } else if (isInside && token.type === 'link_close') {
        isInside = false;
        Object.assign(token, { type: 'html_inline', tag: '', content: '</span>', nesting: 0 });
      }
    }
  }
}

/**
 * Makes one search index of all pages: VitePress makes one for each language, in which a Chinese reader would not find the
 * reference, which is in English. Only while pages are indexed, the site has a single language.
 */
function searchAllLanguages() {
  const indexing = new AsyncLocalStorage();
  return {
    name: 'search-all-languages',
    configResolved({ plugins, vitepress }) {
      const search = plugins.find(({ name }) => name === 'vitepress:local-search');
      let { site } = vitepress;
      Object.defineProperty(vitepress, 'site', {
        get: () => (indexing.getStore() ? { ...site, locales: { root: site.locales.root } } : site),
        set: (next) => (site = next),
      });
      const { load } = search;
      search.load = async (id) => {
        if (id !== '/@localSearchIndex') return load(id);
        await indexing.run(true, () => load(id));
        return `const load = () => import('@localSearchIndexroot'); export default { root: load, zh: load };`;
      };
    },
  };
}

/**
 * Resolves the imports of the playground. It uses the console's packages, although the site has another version of preact. And it
 * sends nothing anywhere: the console's client, which it would never use, is left out.
 */
function resolvePlayground() {
  const consoleEntry = fileURLToPath(new URL('../../web/main.tsx', import.meta.url));
  return {
    name: 'resolve-playground',
    enforce: 'pre',
    async resolveId(source, importer = '') {
      if (source.endsWith('/data/client.js') && importer.includes('/web/')) {
        return fileURLToPath(new URL('../playground/no-client.ts', import.meta.url));
      }
      const isPackage = importer.includes('/site/playground/') && /^@?\w/.test(source);
      return isPackage ? this.resolve(source, consoleEntry, { skipSelf: true }) : undefined;
    },
    // The playground is in English; the console chooses its texts when it is loaded.
    load(id) {
      if (!id.endsWith('/texts.ts') || !id.includes('/web/')) return undefined;
      if (id.endsWith('/app/texts.ts')) return `export { t } from './texts.en.js';`;
      const shared = fileURLToPath(new URL('../../web/app/texts.en.ts', import.meta.url));
      return `import { t as shared } from ${JSON.stringify(shared)}; import { t as own } from './texts.en.js'; export const t = { ...shared, ...own };`;
    },
  };
}

/**
 * Splits text into words to search for. Chinese has no spaces, so each pair of neighbouring characters is a word. This function
 * is copied into the pages as text: it must not use anything outside it.
 */
function tokenize(text) {
  return text.split(/[\n\r\p{Z}\p{P}]+/u).flatMap((word) =>
    (word.match(/\p{Script=Han}+|[^\p{Script=Han}]+/gu) ?? []).flatMap((part) => {
      if (!/\p{Script=Han}/u.test(part)) return [part];
      const characters = [...part];
      if (characters.length === 1) return characters;
      return characters.slice(1).map((character, index) => characters[index] + character);
    }),
  );
}

/** Puts pages in the reader's language first. Also copied into the pages. */
function boostDocument(id) {
  return id.includes('/zh/') === (document.documentElement.lang === 'zh-CN') ? 3 : 1;
}

/** Spelling mistakes are found in words, but not in pairs of Chinese characters. Also copied into the pages. */
function chooseFuzziness(term) {
  return /\p{Script=Han}/u.test(term) || term.length < 4 ? false : 0.2;
}
