import { loadTexts } from '../../app/language.js';
import { t as shared } from '../../app/texts.js';

/** The texts of this folder, and those that folders share, in the page's language. */
export const t = {
  ...shared,
  ...(await loadTexts({
    en: async () => import('./texts.en.js'),
    'zh-CN': async () => import('./texts.zh-CN.js'),
  })),
};
